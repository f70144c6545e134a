# ${m.name}: builds lib${m.name}.a. ${m.tool}.
CC ?= cc
AR ?= ar
CFLAGS ?= ${m.flags}
OBJECTS = ${m.name}.o ${m.name}_weights.o ${" ".join(f"{one}.o" for one in (*(each.name for each in m.networks), *m.more))}
HEADERS = src/${m.name}.h src/${m.name}_internal.h \
${" ".join([*(f"src/{one.name}.h src/{one.name}_internal.h" for one in m.networks), *(f"src/{one}.h" for one in m.more)])}

lib${m.name}.a: $(OBJECTS)
	$(AR) rcs $@ $(OBJECTS)

%%.o: src/%.c $(HEADERS)
	$(CC) -std=c99 $(CFLAGS) -Isrc -c $< -o $@
% if m.binary:

${m.name}_weights.o: src/${m.name}_weights.S src/${m.name}_weights.bin src/${m.name}.h
	$(CC) $(CFLAGS) -Isrc -c $< -o $@
% endif

clean:
	rm -f $(OBJECTS) lib${m.name}.a

.PHONY: clean
