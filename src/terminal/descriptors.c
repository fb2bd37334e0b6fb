// Marks every descriptor of this process but 0, 1 and 2 as not to be inherited (close-on-exec). Linux; knows nothing else of the gateway.
//
// forkpty(3) leaves the master open in every program that is started later: they could read and type in other sessions, and would keep
// these alive after the gateway is gone. Node has no call for it. Node-API is declared by hand, so that a C compiler is all it takes.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define CLOSE_ON_EXEC_ONLY 4u
#define FIRST 3

typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_callback_info__ *napi_callback_info;
typedef napi_value (*napi_callback)(napi_env, napi_callback_info);
extern int napi_create_function(napi_env, const char *, size_t, napi_callback, void *, napi_value *);
extern int napi_get_boolean(napi_env, bool, napi_value *);

/* For kernels before 5.11, and sandboxes that know no close_range(2). */
static bool mark_one_by_one(void) {
  DIR *open_ones = opendir("/proc/self/fd");
  if (!open_ones) return false;
  bool all = true;
  for (struct dirent *each; (each = readdir(open_ones));) {
    int fd = atoi(each->d_name);
    if (fd >= FIRST) all = fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && all;
  }
  closedir(open_ones);
  return all;
}

static napi_value keep(napi_env env, napi_callback_info info) {
  (void)info;
  bool kept = syscall(SYS_close_range, FIRST, ~0u, CLOSE_ON_EXEC_ONLY) == 0 || mark_one_by_one();
  napi_value result = NULL;
  napi_get_boolean(env, kept, &result);
  return result;
}

napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  napi_value function = NULL;
  return napi_create_function(env, "keep", 4, keep, NULL, &function) == 0 ? function : exports;
}
