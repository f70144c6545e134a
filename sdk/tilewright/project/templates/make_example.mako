# Builds the library and a program that runs it once.
CC ?= cc
CFLAGS ?= ${" ".join((*m.cpu_flags, *m.tuning_flags))}
LDLIBS ?= -lm

example: main.c library
	$(CC) $(CFLAGS) -I../../src main.c ../../lib${m.name}.a $(LDFLAGS) $(LDLIBS) -o $@

library:
	$(MAKE) -C ../.. CC="$(CC)" CFLAGS="$(CFLAGS)"

clean:
	rm -f example
	$(MAKE) -C ../.. clean

.PHONY: library clean
