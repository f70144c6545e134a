# ${m.name}: builds lib${m.name}.a. ${m.tool}.
CC ?= cc
AR ?= ar
CFLAGS ?= ${m.flags}
OBJECTS = ${m.name}.o ${m.name}_weights.o${f" {m.name}_text.o" if m.text else ""}

lib${m.name}.a: $(OBJECTS)
	$(AR) rcs $@ $(OBJECTS)

%%.o: src/%.c src/${m.name}.h src/${m.name}_internal.h
	$(CC) -std=c99 $(CFLAGS) -Isrc -c $< -o $@
% if m.binary:

${m.name}_weights.o: src/${m.name}_weights.S src/${m.name}_weights.bin src/${m.name}.h
	$(CC) $(CFLAGS) -Isrc -c $< -o $@
% endif

clean:
	rm -f $(OBJECTS) lib${m.name}.a

.PHONY: clean
