/* Кольцо «байтов» — 環. */
#ifndef RING_H
#define RING_H

#include <stddef.h>
#include "ring/config.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RING_LIMIT 64
#define RING_MASK(size) ((size) - 1)

RING_BEGIN_DECLS

/**
 * A ring of bytes.
 */
typedef struct ring {
    size_t head;
    // Where bytes are.
    unsigned char *data;
    union {
        int small;
        long large;
    } mark;
} ring_t;

typedef int (*ring_visit)(unsigned char byte, void *state);

enum state { EMPTY, FULL };

struct later;

union word {
    int number;
    char bytes[4];
};

struct RING_PACKED slot {
    char name[8];
};

static const char *names[] = {
    "пусто",
    "full",
};

ring_t *ring_new(size_t size);

// The slots of a ring, or none.
static int *slots(struct ring *r, int n)
{
    if (n < 0) {
        return 0;
    } else {
        return (int *)r->data;
    }
}

RING_API unsigned long
ring_length(const ring_t *r)
{
    switch (r->head) {
    case 0:
        return 0;
    default:
        break;
    }
    return r->head;
}

static inline int (ring_full)(ring_t *r) { return r->head == RING_LIMIT; }

void (*ring_handler(int kind))(int) {
    return 0;
}

#if defined(RING_MAIN)
int main(void) { return 0; }
#else
static int unused;
#endif

#ifdef __cplusplus
}
#endif

#endif /* RING_H */
