struct lamp { int id; char name[32]; };

/* Is the path inside the root? */
int inside(const char *path, const char *root)
{
    char a[256], b[256];
#ifdef _WIN32
    if (_fullpath(a, path, 256) && _fullpath(b, root, 256)) {
        normalise(a); normalise("}}");
#elif defined(__APPLE__)
    if (realpath(path, a)) { /* } */
#else
    if (realpath(path, a) && realpath(root, b)) {
#endif
        return strncmp(a, b, strlen(b)) == 0;
    }
    return 0;
}

/* Comes after the function with the split brace. */
static int after_split(int x)
{
    return x + 1;
}

int main_loop(struct lamp *l)
{
    if (l->id) {
        puts("on");
#ifdef WORLD
    } else
        puts("off");
#else
    }
#endif
    return after_split(l->id);
}

#if A
int nested(int x) {
#ifdef B
    return 1;
#else
    return 2;
#endif
#else
int nested(long x) {
#endif
    return x;
}

int last_one(void) { return 0; }
