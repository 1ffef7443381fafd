// See log.h. Everything here is the program's own bookkeeping; it makes no MPI call.
#define _GNU_SOURCE
#include "log.h"

#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef SMPI_H
#include <simgrid/actor.h>
#endif

enum { kMaxBound = 8192, kMaxArray = 4096, kLineBytes = 1 << 18 };

// What a request's status means once it is complete.
enum Flavour { kReceive = 'r', kSend = 's', kOther = 'o', kNull = '0' };

struct Bound {
  char kind;
  char flavour;  // requests only
  uint64_t key;  // the handle's value; for requests the address of the variable
  char alias[40];
};

struct Line {
  char* at;
  char* end;
  const char* call;
  int failed;      // the call did: statuses are not what they are elsewhere
  int flag_false;  // a flag:f that was 0: what follows is undefined
  char flavour;    // of the request seen last
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE* file;
static struct Bound bound[kMaxBound];
static int bound_count;
static int next_alias;
static char flavours[kMaxArray];  // of the array of requests seen last
static char freed[1 << 16];       // aliases that this line ends
static size_t freed_length;
static __thread const char* thread_name;
static __thread struct Bound ending;  // what this thread is freeing
static __thread long long call_begin, call_end;

static void open_file(void) {
  static int tried;
  if (tried) return;
  tried = 1;
  const char* base = getenv("REFRAIN_TEST_LOG");
  const char* rank = getenv("PMI_RANK");
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  if (base == NULL) return;
  char path[4096];
#ifdef SMPI_H
  // Every rank has these variables for itself, but all have the same environment.
  snprintf(path, sizeof path, "%s.%d", base, (int)sg_actor_self_get_pid() - 1);
  (void)rank;
#else
  snprintf(path, sizeof path, "%s.%s", base, rank ? rank : "0");
#endif
  file = fopen(path, "w");
}

static void put(struct Line* l, const char* format, ...) {
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(l->at, (size_t)(l->end - l->at), format, args);
  va_end(args);
  if (n < 0 || n >= l->end - l->at) abort();
  l->at += n;
}

static uint64_t key_of(const void* handle, size_t size) {
  uint64_t key = 0;
  memcpy(&key, handle, size);
  return key;
}

static struct Bound* find(char kind, uint64_t key) {
  if (ending.kind == kind && ending.key == key) return &ending;
  for (int i = bound_count - 1; i >= 0; --i)
    if (bound[i].kind == kind && bound[i].key == key) return &bound[i];
  return NULL;
}

static struct Bound* bind(char kind, uint64_t key, const char* alias) {
  struct Bound* b = find(kind, key);
  if (b == NULL) {
    if (bound_count == kMaxBound) abort();
    b = &bound[bound_count++];
  }
  b->kind = kind;
  b->flavour = kOther;
  b->key = key;
  if (alias != NULL)
    snprintf(b->alias, sizeof b->alias, "%s", alias);
  else
    snprintf(b->alias, sizeof b->alias, "@%c%d", kind, next_alias++);
  return b;
}

static void unbind(struct Bound* b) {
  const int n = snprintf(freed + freed_length, sizeof freed - freed_length, "%s\"%s\"",
                         freed_length > 0 ? "," : "", b->alias);
  freed_length += (size_t)n;
  if (freed_length >= sizeof freed) abort();
  if (b == &ending)
    ending.kind = 0;
  else
    *b = bound[--bound_count];
}

static const char* predefined(char kind, uint64_t key) {
#define NAMED(type, handle)                            \
  {                                                    \
    const type h_ = handle;                            \
    if (key_of(&h_, sizeof h_) == key) return #handle; \
  }
// Written out once more: a macro that passed `h` on would name what MPI defines it as.
#define D(h)                                      \
  {                                               \
    const MPI_Datatype h_ = h;                    \
    if (key_of(&h_, sizeof h_) == key) return #h; \
  }
#define O(h)                                      \
  {                                               \
    const MPI_Op h_ = h;                          \
    if (key_of(&h_, sizeof h_) == key) return #h; \
  }
  switch (kind) {
    case 'C':
      NAMED(MPI_Comm, MPI_COMM_WORLD)
      NAMED(MPI_Comm, MPI_COMM_SELF) NAMED(MPI_Comm, MPI_COMM_NULL) break;
    // clang-format off
    case 'D':
      D(MPI_INT) D(MPI_DOUBLE) D(MPI_CHAR) D(MPI_BYTE) D(MPI_FLOAT) D(MPI_LONG) D(MPI_SHORT)
      D(MPI_UNSIGNED) D(MPI_LONG_LONG) D(MPI_UNSIGNED_CHAR) D(MPI_PACKED) D(MPI_DOUBLE_INT)
      D(MPI_2INT) D(MPI_FLOAT_INT) D(MPI_INT32_T) D(MPI_INT64_T) D(MPI_UINT64_T) D(MPI_AINT)
      D(MPI_DATATYPE_NULL)
      break;
    case 'O':
      O(MPI_SUM) O(MPI_MAX) O(MPI_MIN) O(MPI_PROD) O(MPI_LAND) O(MPI_BAND) O(MPI_LOR) O(MPI_BOR)
      O(MPI_MAXLOC) O(MPI_MINLOC) O(MPI_REPLACE) O(MPI_NO_OP) O(MPI_OP_NULL)
      break;
    // clang-format on
    case 'G': NAMED(MPI_Group, MPI_GROUP_EMPTY) NAMED(MPI_Group, MPI_GROUP_NULL) break;
    case 'W': NAMED(MPI_Win, MPI_WIN_NULL) break;
    case 'F': NAMED(MPI_File, MPI_FILE_NULL) break;
    case 'E':
      NAMED(MPI_Errhandler, MPI_ERRORS_ARE_FATAL)
      NAMED(MPI_Errhandler, MPI_ERRORS_RETURN) NAMED(MPI_Errhandler, MPI_ERRHANDLER_NULL) break;
    case 'N': NAMED(MPI_Info, MPI_INFO_NULL) NAMED(MPI_Info, MPI_INFO_ENV) break;
#ifdef MPIX_STREAM_NULL
    case 'Z': NAMED(MPIX_Stream, MPIX_STREAM_NULL) break;
#endif
    case 'M': NAMED(MPI_Message, MPI_MESSAGE_NULL) NAMED(MPI_Message, MPI_MESSAGE_NO_PROC) break;
    case 'K': {
      const int keyval = (int)key;
      if (keyval == MPI_TAG_UB) return "MPI_TAG_UB";
      if (keyval == MPI_KEYVAL_INVALID) return "MPI_KEYVAL_INVALID";
      break;
    }
    default: break;
  }
  return NULL;
#undef D
#undef O
#undef NAMED
}

static void put_handle(struct Line* l, char kind, uint64_t key, int bound_first) {
  const struct Bound* b = find(kind, key);
  const char* name = predefined(kind, key);
  if (b != NULL && (bound_first || name == NULL))
    put(l, "\"%s\"", b->alias);
  else if (name != NULL)
    put(l, "\"%s\"", name);
  else
    put(l, "\"?\"");  // a handle that the program got from somewhere: not compared
}

static void put_rank(struct Line* l, int v) {
  if (v == MPI_PROC_NULL)
    put(l, "\"MPI_PROC_NULL\"");
  else if (v == MPI_ANY_SOURCE)
    put(l, "\"MPI_ANY_SOURCE\"");
  else if (v < 0 && v == MPI_ROOT)  // 0 in SMPI
    put(l, "\"MPI_ROOT\"");
  else if (v == MPI_UNDEFINED)
    put(l, "\"MPI_UNDEFINED\"");
  else
    put(l, "%d", v);
}

static void put_tag(struct Line* l, int v) {
  if (v == MPI_ANY_TAG)
    put(l, "\"MPI_ANY_TAG\"");
  else
    put(l, "%d", v);
}

static void put_index(struct Line* l, int v) {
  if (v == MPI_UNDEFINED)
    put(l, "\"MPI_UNDEFINED\"");
  else
    put(l, "%d", v);
}

static void put_string(struct Line* l, const char* s) {
  if (s == NULL) {
    put(l, "null");
    return;
  }
  put(l, "\"");
  for (; *s; ++s) {
    if (*s == '"' || *s == '\\')
      put(l, "\\%c", *s);
    else if ((unsigned char)*s < 32)
      put(l, "\\u%04x", *s);
    else
      put(l, "%c", *s);
  }
  put(l, "\"");
}

static void put_status(struct Line* l, const MPI_Status* s, char flavour) {
  if (s == MPI_STATUS_IGNORE) {
    put(l, "\"MPI_STATUS_IGNORE\"");
  } else if (l->flag_false || flavour == kSend) {
    put(l, "null");
  } else if (flavour == kOther) {
    put(l, "\"?\"");
  } else if (flavour == kNull) {
    put(l, "{\"source\":\"MPI_ANY_SOURCE\",\"tag\":\"MPI_ANY_TAG\"}");
  } else {
    put(l, "{\"source\":");
    put_rank(l, s->MPI_SOURCE);
    put(l, ",\"tag\":");
    put_tag(l, s->MPI_TAG);
    put(l, "}");
  }
}

// Entry state of a request variable; what has become MPI_REQUEST_NULL is gone afterwards.
static char put_request(struct Line* l, MPI_Request* r) {
  struct Bound* b = find('R', (uint64_t)(uintptr_t)r);
  if (b == NULL) {
    put(l, "\"MPI_REQUEST_NULL\"");
    return kNull;
  }
  const char flavour = b->flavour;
  put(l, "\"%s\"", b->alias);
  if (*r == MPI_REQUEST_NULL) unbind(b);
  return flavour;
}

static void put_new_request(struct Line* l, MPI_Request* r) {
  if (*r == MPI_REQUEST_NULL) {  // complete at once, says this MPI
    put(l, "\"MPI_REQUEST_NULL\"");
    return;
  }
  struct Bound* b = bind('R', (uint64_t)(uintptr_t)r, NULL);
  if (strcasestr(l->call, "recv") != NULL && strcasestr(l->call, "Isendrecv") == NULL)
    b->flavour = kReceive;
  else if (strcasestr(l->call, "send") != NULL && strcasestr(l->call, "Isendrecv") == NULL)
    b->flavour = kSend;
  put(l, "\"%s\"", b->alias);
}

static void put_array_of_requests(struct Line* l, int n, MPI_Request* r) {
  if (n > kMaxArray) abort();
  put(l, "[");
  for (int i = 0; i < n; ++i) {
    if (i) put(l, ",");
    const char flavour = put_request(l, &r[i]);
    flavours[i] = flavour;
  }
  put(l, "]");
}

#define PUT_ARRAY(type, statement)               \
  do {                                           \
    const int n_ = va_arg(*args, int);           \
    const type* v_ = va_arg(*args, const type*); \
    put(l, "[");                                 \
    for (int i_ = 0; i_ < n_; ++i_) {            \
      if (i_) put(l, ",");                       \
      const type v = v_[i_];                     \
      statement;                                 \
    }                                            \
    put(l, "]");                                 \
  } while (0)

#define HANDLE_ARG(type)                 \
  {                                      \
    const type h_ = va_arg(*args, type); \
    key = key_of(&h_, sizeof h_);        \
  }                                      \
  break

static uint64_t handle_argument(char kind, va_list* args) {
  uint64_t key = 0;
  switch (kind) {
    case 'C': HANDLE_ARG(MPI_Comm);
    case 'D': HANDLE_ARG(MPI_Datatype);
    case 'G': HANDLE_ARG(MPI_Group);
    case 'W': HANDLE_ARG(MPI_Win);
    case 'F': HANDLE_ARG(MPI_File);
    case 'O': HANDLE_ARG(MPI_Op);
    case 'E': HANDLE_ARG(MPI_Errhandler);
    case 'N': HANDLE_ARG(MPI_Info);
    case 'M': HANDLE_ARG(MPI_Message);
    case 'K': HANDLE_ARG(int);
#ifdef MPI_SESSION_NULL
    case 'X': HANDLE_ARG(MPI_Session);
#endif
#ifdef MPIX_STREAM_NULL
    case 'Z': HANDLE_ARG(MPIX_Stream);
#endif
    default: abort();
  }
  return key;
}

// C+ takes (handle, alias); all other new handles get an alias by themselves. C- ends the alias.
static void put_handle_kind(struct Line* l, char kind, char suffix, va_list* args) {
  const uint64_t key = handle_argument(kind, args);
  if (suffix == '+') {
    if (kind == 'C') {
      const char* alias = va_arg(*args, const char*);
      if (predefined('C', key) == NULL) bind(kind, key, alias);
    } else if (predefined(kind, key) == NULL) {
      bind(kind, key, NULL);
    }
  }
  put_handle(l, kind, key, 0);
  struct Bound* b = suffix == '-' ? find(kind, key) : NULL;
  if (b != NULL) unbind(b);
}

static void put_statuses_at(struct Line* l, va_list* args) {
  const int n = va_arg(*args, int);
  const int* indices = va_arg(*args, const int*);
  const MPI_Status* s = va_arg(*args, const MPI_Status*);
  if (s == MPI_STATUSES_IGNORE) {
    put(l, "\"MPI_STATUSES_IGNORE\"");
    return;
  }
  put(l, "[");
  for (int i = 0; i < n; ++i) {
    if (i) put(l, ",");
    put_status(l, &s[i], flavours[indices[i]]);
  }
  put(l, "]");
}

static void put_all_statuses(struct Line* l, va_list* args) {
  const int n = va_arg(*args, int);
  const MPI_Status* s = va_arg(*args, const MPI_Status*);
  if (s == MPI_STATUSES_IGNORE) {
    put(l, "\"MPI_STATUSES_IGNORE\"");
    return;
  }
  if (l->flag_false) {
    put(l, "\"?\"");
    return;
  }
  put(l, "[");
  for (int i = 0; i < n; ++i) {
    if (i) put(l, ",");
    put_status(l, &s[i], flavours[i]);
  }
  put(l, "]");
}

static void put_status_of_index(struct Line* l, va_list* args) {
  const int index = va_arg(*args, int);
  const MPI_Status* s = va_arg(*args, const MPI_Status*);
  put_status(l, s, index == MPI_UNDEFINED ? (char)kNull : flavours[index]);
}

static void put_buffer(struct Line* l, va_list* args) {
  const void* p = va_arg(*args, const void*);
  const char* where = va_arg(*args, const char*);
  if (p == MPI_IN_PLACE)
    put(l, "\"MPI_IN_PLACE\"");
  else if (p == MPI_BOTTOM)
    put(l, "\"~null\"");  // MPI_BOTTOM and NULL are one address
  else
    put(l, "\"~%s\"", where);
}

static void put_value(struct Line* l, char kind, char suffix, va_list* args) {
  switch (kind) {
    case 'i': put(l, "%d", va_arg(*args, int)); break;
    case 'l': put(l, "%lld", va_arg(*args, long long)); break;
    case 'r': put_rank(l, va_arg(*args, int)); break;
    case 't': put_tag(l, va_arg(*args, int)); break;
    case 'u': put_index(l, va_arg(*args, int)); break;
    case 's': put_string(l, va_arg(*args, const char*)); break;
    case 'j': put(l, "%s", va_arg(*args, const char*)); break;
    case 'n': put(l, "null"); break;
    case 'f': {
      const int flag = va_arg(*args, int);
      l->flag_false = flag == 0;
      put(l, "%d", flag);
      break;
    }
    case 'b': put_buffer(l, args); break;
    case 'S': put_status(l, va_arg(*args, const MPI_Status*), l->flavour); break;
    case 'P': put_status_of_index(l, args); break;
    case 'T': put_all_statuses(l, args); break;
    case 'Q': put_statuses_at(l, args); break;
    case 'R':
      if (suffix == '+')
        put_new_request(l, va_arg(*args, MPI_Request*));
      else
        l->flavour = put_request(l, va_arg(*args, MPI_Request*));
      break;
    case 'A': {
      const int n = va_arg(*args, int);
      put_array_of_requests(l, n, va_arg(*args, MPI_Request*));
      break;
    }
    case 'V': PUT_ARRAY(int, put_index(l, v)); break;
    case 'k': PUT_ARRAY(int, put_rank(l, v)); break;
    case 'L': PUT_ARRAY(MPI_Aint, put(l, "%lld", (long long)v)); break;
    case 'Y': PUT_ARRAY(MPI_Datatype, put_handle(l, 'D', key_of(&v, sizeof v), 0)); break;
#ifdef MPIX_STREAM_NULL
    case 'z': PUT_ARRAY(MPIX_Stream, put_handle(l, 'Z', key_of(&v, sizeof v), 0)); break;
#endif
    default: put_handle_kind(l, kind, suffix, args); break;
  }
}

void log_bind(char kind, const void* handle, size_t size, const char* alias) {
  pthread_mutex_lock(&lock);
  bind(kind, key_of(handle, size), alias);
  pthread_mutex_unlock(&lock);
}

void log_ending(char kind, const void* handle, size_t size) {
  pthread_mutex_lock(&lock);
  struct Bound* b = find(kind, key_of(handle, size));
  if (b != NULL) {
    ending = *b;
    *b = bound[--bound_count];
  }
  pthread_mutex_unlock(&lock);
}

void log_move_request(MPI_Request* from, MPI_Request* to) {
  pthread_mutex_lock(&lock);
  struct Bound* b = find('R', (uint64_t)(uintptr_t)from);
  if (b != NULL) b->key = (uint64_t)(uintptr_t)to;
  pthread_mutex_unlock(&lock);
}

void log_thread(const char* name) { thread_name = name; }

// "name:K name:K=..." -> the args object in `args_out`, names that begin with '=' outside of it.
static void put_specification(struct Line* l, struct Line* outside, const char* spec,
                              va_list* args) {
  int first = 1;
  while (*spec) {
    while (*spec == ' ') ++spec;
    if (*spec == 0) break;
    const char* colon = strchr(spec, ':');
    if (colon == NULL) abort();
    const char kind = colon[1];
    const char suffix = colon[1] ? colon[2] : 0;
    if (*spec == '=') {
      put(outside, ",\"%.*s\":", (int)(colon - spec - 1), spec + 1);
      outside->flavour = kReceive;
      put_value(outside, kind, suffix, args);
    } else {
      put(l, "%s\"%.*s\":", first ? "" : ",", (int)(colon - spec), spec);
      put_value(l, kind, suffix, args);
      first = 0;
    }
    spec = colon + 2;
    if (suffix == '+' || suffix == '-') ++spec;
  }
}

void log_call(int line, const char* call, int rc, const char* spec, ...) {
  static char text[kLineBytes], outside_text[kLineBytes];
  pthread_mutex_lock(&lock);
  open_file();
  struct Line l = {text, text + sizeof text, call, rc != MPI_SUCCESS, 0, kReceive};
  struct Line outside = l;
  outside.at = outside_text;
  outside.end = outside_text + sizeof outside_text;
  outside_text[0] = 0;
  freed_length = 0;
  int name_length = 0;
  while (isalnum((unsigned char)call[name_length]) || call[name_length] == '_') ++name_length;
  put(&l, "{\"call\":\"%.*s\",\"args\":{", name_length, call);
  va_list args;
  va_start(args, spec);
  put_specification(&l, &outside, spec, &args);
  va_end(args);
  put(&l, "}%s", outside_text);
  if (line > 0) put(&l, ",\"line\":%d", line);
  if (rc != MPI_SUCCESS) put(&l, ",\"rc\":%d", rc);
  if (thread_name != NULL) put(&l, ",\"thread\":\"%s\"", thread_name);
  if (freed_length > 0) put(&l, ",\"freed\":[%s]", freed);
  if (call_end > 0) put(&l, ",\"ns\":[%lld,%lld]", call_begin, call_end);
  call_end = 0;
  put(&l, "}");
  if (file != NULL) {
    fputs(text, file);
    fputc('\n', file);
    fflush(file);
  }
  pthread_mutex_unlock(&lock);
}

// Not by clock_gettime(), which a test may have preloaded another one of.
long long log_now(void) {
  static int wanted = -1;
  if (wanted < 0) wanted = getenv("REFRAIN_TEST_TIMES") != NULL;
  if (!wanted) return 0;
  struct timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

void log_times(long long begin, long long end) {
  call_begin = begin;
  call_end = end;
}

const char* json_message(int source, int tag) {
  static __thread char text[64];
  snprintf(text, sizeof text, "{\"source\":%d,\"tag\":%d}", source, tag);
  return text;
}

void log_init(int* argc, char*** argv, int* rank, int* size) {
  MPI_Init(argc, argv);
  DID("MPI_Init", "");
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  DID("MPI_Comm_rank", "comm:C rank:i", MPI_COMM_WORLD, *rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  DID("MPI_Comm_size", "comm:C size:i", MPI_COMM_WORLD, *size);
}

void log_finalize(void) {
  // Before, not after: a launcher may kill a rank whose neighbour has left with an error status.
  DID("MPI_Finalize", "");
  MPI_Finalize();
}
