/* A library to preload (see .ci/at): the wall clock of a process is that of the machine plus CLOCK_OFFSET
 * seconds. Monotonic clocks stay as they are, so waits take their real time.
 *
 * libfaketime 0.9.10 cannot do this for Python: with FAKETIME_DONT_FAKE_MONOTONIC=1 its clock_nanosleep
 * refuses a monotonic deadline (EINVAL), which is how time.sleep waits since Python 3.11; without it,
 * a lock with a timeout waits for ever. The kernel keeps the machine's time: what reads the clock is
 * moved by the offset, and what hands the kernel a deadline on that clock is moved back. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

/* A deadline above this is one of the wall clock: no machine has been up for thirty years. */
#define WALL_SECONDS 1000000000L

#define REAL(name) ((__typeof__(&name))real(&name##_at, #name))
#define DECLARE(name) static void *name##_at

static long offset;

__attribute__((constructor)) static void read_offset(void) {
    const char *given = getenv("CLOCK_OFFSET");
    offset = given ? strtol(given, NULL, 10) : 0;
}

static void *real(void **found, const char *name) {
    if (!*found)
        *found = dlsym(RTLD_NEXT, name);
    return *found;
}

static int is_wall(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

static struct timespec moved_back(const struct timespec *deadline) {
    struct timespec moved = *deadline;
    if (moved.tv_sec > WALL_SECONDS)
        moved.tv_sec -= offset;
    return moved;
}

DECLARE(clock_gettime);
int clock_gettime(clockid_t clock, struct timespec *out) {
    int failed = REAL(clock_gettime)(clock, out);
    if (!failed && is_wall(clock))
        out->tv_sec += offset;
    return failed;
}

DECLARE(gettimeofday);
int gettimeofday(struct timeval *restrict out, void *restrict zone) {
    int failed = REAL(gettimeofday)(out, zone);
    if (!failed)
        out->tv_sec += offset;
    return failed;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

DECLARE(timespec_get);
int timespec_get(struct timespec *out, int base) {
    int got = REAL(timespec_get)(out, base);
    if (got == TIME_UTC)
        out->tv_sec += offset;
    return got;
}

DECLARE(clock_nanosleep);
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left) {
    struct timespec moved = flags & TIMER_ABSTIME ? moved_back(until) : *until;
    return REAL(clock_nanosleep)(clock, flags, &moved, left);
}

DECLARE(pthread_cond_timedwait);
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
    struct timespec moved = moved_back(until);
    return REAL(pthread_cond_timedwait)(condition, mutex, &moved);
}

DECLARE(pthread_cond_clockwait);
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *until) {
    struct timespec moved = moved_back(until);
    return REAL(pthread_cond_clockwait)(condition, mutex, clock, &moved);
}

DECLARE(pthread_mutex_timedlock);
int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict until) {
    struct timespec moved = moved_back(until);
    return REAL(pthread_mutex_timedlock)(mutex, &moved);
}

DECLARE(sem_timedwait);
int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
    struct timespec moved = moved_back(until);
    return REAL(sem_timedwait)(semaphore, &moved);
}

DECLARE(sem_clockwait);
int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until) {
    struct timespec moved = moved_back(until);
    return REAL(sem_clockwait)(semaphore, clock, &moved);
}
