// Compiles mimalloc as one object, with Respire's two settings. They are not compiler flags, so a user's
// CFLAGS cannot lose or change them.

// Sizes up to 64 bytes in steps of 8 instead of 16.
#undef MI_MAX_ALIGN_SIZE
#define MI_MAX_ALIGN_SIZE 8

// Return memory only in whole huge pages.
#undef MI_DEFAULT_ALLOW_THP
#define MI_DEFAULT_ALLOW_THP 2

#include "static.c"

// These functions have names of their own: a program that also links another mimalloc cannot reach the
// other one's code through them.

void* respire_mi_malloc(size_t size) {
  return mi_malloc(size);
}

void* respire_mi_malloc_aligned(size_t size, size_t alignment) {
  return mi_malloc_aligned(size, alignment);
}

void* respire_mi_zalloc(size_t size) {
  return mi_zalloc(size);
}

void* respire_mi_zalloc_aligned(size_t size, size_t alignment) {
  return mi_zalloc_aligned(size, alignment);
}

void* respire_mi_realloc_aligned(void* block, size_t size, size_t alignment) {
  return mi_realloc_aligned(block, size, alignment);
}

void respire_mi_free(void* block) {
  mi_free(block);
}

size_t respire_mi_usable_size(const void* block) {
  return mi_usable_size(block);
}

long respire_mi_allow_thp(void) {
  return mi_option_get(mi_option_allow_thp);
}
