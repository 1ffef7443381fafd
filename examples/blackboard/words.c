/* Counts the words of its input in parallel: lines become entries, a source splits them, another
 * one counts.
 *
 *   cc -o words words.c -lrefrain-blackboard && ./words < words.c */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "refrain/blackboard.h"

struct counter {
  pthread_mutex_t lock; /* several jobs of a source may run at a time */
  long words, letters;
};

/* A line: each word becomes an entry. */
static void split(refrain_blackboard* board, refrain_entry* const* entries, int count,
                  void* context) {
  (void)count;
  const char* line = refrain_entry_data(entries[0]);
  const size_t bytes = refrain_entry_bytes(entries[0]);
  const refrain_type* word = context;
  for (size_t begin = 0, end; begin < bytes; begin = end + 1) {
    for (end = begin; end < bytes && !isspace((unsigned char)line[end]);) ++end;
    if (end > begin) refrain_blackboard_submit_copy(board, *word, line + begin, end - begin);
  }
}

static void count_word(refrain_blackboard* board, refrain_entry* const* entries, int count,
                       void* context) {
  (void)board;
  (void)count;
  struct counter* counter = context;
  pthread_mutex_lock(&counter->lock);
  counter->words += 1;
  counter->letters += (long)refrain_entry_bytes(entries[0]);
  pthread_mutex_unlock(&counter->lock);
}

int main(void) {
  refrain_blackboard* board = refrain_blackboard_new(-1, 1 << 20);
  if (board == NULL) return 1;
  struct counter counter = {PTHREAD_MUTEX_INITIALIZER, 0, 0};
  refrain_type line = refrain_type_of("stdin", "line"), word = refrain_type_of("stdin", "word");
  refrain_source_add(board, "splitter", &line, 1, split, &word);
  refrain_source_add(board, "counter", &word, 1, count_word, &counter);
  char text[4096];
  while (fgets(text, sizeof text, stdin) != NULL)
    refrain_blackboard_submit_copy(board, line, text, strlen(text));
  refrain_blackboard_free(board); /* waits for all jobs */
  printf("%ld words, %ld letters\n", counter.words, counter.letters);
  return 0;
}
