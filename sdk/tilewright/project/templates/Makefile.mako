# ${m.name}: builds lib${m.name}.a. ${m.tool}.
# Another core: make CC="arm-none-eabi-gcc --specs=picolibc.specs" CFLAGS="-mcpu=cortex-m4 -mthumb -O2"
CC ?= cc
AR ?= ar
CFLAGS ?= ${" ".join((*m.cpu_flags, *m.tuning_flags))}
OBJECTS = ${" ".join(s.rpartition(".")[0] + ".o" for s in m.sources)}

lib${m.name}.a: $(OBJECTS)
	$(AR) rcs $@ $(OBJECTS)

%%.o: src/%.c src/${m.name}.h src/${m.name}_internal.h
	$(CC) -std=c99 $(CFLAGS) -Isrc -c $< -o $@
% if m.weights_file:

${m.name}_weights.o: src/${m.name}_weights.S src/${m.weights_file} src/${m.name}.h
	$(CC) $(CFLAGS) -Isrc -c $< -o $@
% endif

clean:
	rm -f $(OBJECTS) lib${m.name}.a

.PHONY: clean
