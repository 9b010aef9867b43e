# Сборка: makes the program.
include config.mk
-include local.mk

CC := gcc
FLAGS = -O2 \
	-Wall
NAME ?= слово

ifeq ($(DEBUG),1)
FLAGS += -g
else
FLAGS += -DNDEBUG
endif

define greet
@echo hello
@echo $(1)
endef

.PHONY: all clean

# Makes all.
all: app docs

app: main.o util.o
	$(CC) $(FLAGS) -o $@ $^
	# shown when done
	@echo done

%.o: %.c
	$(CC) $(FLAGS) -c $<

docs/index.html docs/api.html: docs.md | docs
	render $<

.PHONY: clean
clean:
	rm -f *.o app

export PATH
