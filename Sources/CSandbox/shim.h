/* SPDX-FileCopyrightText: 2026 The Linnet contributors
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The C library has no functions for these calls; their numbers are the same on every architecture. */
enum { SANDBOX_CREATE_RULESET = 444, SANDBOX_ADD_RULE = 445, SANDBOX_RESTRICT_SELF = 446 };
/* The C library shows O_PATH only to programs that ask for its extensions. */
enum { SANDBOX_O_PATH = 010000000 };

/* The kernel's structures as of its newest version that is known here; older ones take their beginning. */
struct sandbox_shim_ruleset { uint64_t files, network, scope; };
struct sandbox_shim_rule { uint64_t access; int32_t folder; } __attribute__((packed));

/* The version of Landlock, 0 where there is none. */
static inline int sandbox_shim_landlock_version(void)
{
    long version = syscall(SANDBOX_CREATE_RULESET, NULL, 0, 1);
    return version > 0 ? (int)version : 0;
}

static inline int sandbox_shim_ruleset(const struct sandbox_shim_ruleset *rules, size_t size)
{
    return (int)syscall(SANDBOX_CREATE_RULESET, rules, size, 0);
}

static inline int sandbox_shim_allow(int ruleset, int folder, uint64_t access)
{
    struct sandbox_shim_rule rule = {access, folder};
    return (int)syscall(SANDBOX_ADD_RULE, ruleset, 1, &rule, 0);
}

static inline int sandbox_shim_enforce(int ruleset) { return (int)syscall(SANDBOX_RESTRICT_SELF, ruleset, 0); }

/* Takes variable arguments in the C library. */
static inline int sandbox_shim_open_path(const char *path) { return open(path, SANDBOX_O_PATH | O_CLOEXEC); }

static inline int sandbox_shim_forbid_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

/* Gives up every capability of the calling thread for good, but for that of real-time priorities if it is to be kept. */
static inline int sandbox_shim_drop_capabilities(int keeps_priority)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    if (keeps_priority && syscall(SYS_capget, &header, none) == 0)
        none[0].effective = none[0].permitted = none[0].permitted & (1u << CAP_SYS_NICE);
    else
        none[0].effective = none[0].permitted = 0;
    none[0].inheritable = none[1].effective = none[1].permitted = none[1].inheritable = 0;
    for (int capability = 0; capability < 64; capability++)
        prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &header, none) == 0)
        return 0;
    /* Who has none need not be allowed to give them up. */
    int reason = errno;
    if (syscall(SYS_capget, &header, none) == 0 && (none[0].permitted | none[1].permitted) == 0)
        return 0;
    errno = reason;
    return -1;
}

#define SANDBOX_LIMIT(name, resource)                                                        \
    static inline int sandbox_shim_limit_##name(uint64_t most)                               \
    {                                                                                        \
        struct rlimit limit;                                                                 \
        if (getrlimit(resource, &limit) < 0)                                                 \
            return -1;                                                                       \
        if (most < limit.rlim_max || limit.rlim_max == RLIM_INFINITY)                        \
            limit.rlim_max = most;                                                           \
        if (limit.rlim_cur > limit.rlim_max)                                                 \
            limit.rlim_cur = limit.rlim_max;                                                 \
        return setrlimit(resource, &limit);                                                  \
    }
SANDBOX_LIMIT(core, RLIMIT_CORE)
SANDBOX_LIMIT(data, RLIMIT_DATA)
SANDBOX_LIMIT(files, RLIMIT_NOFILE)
SANDBOX_LIMIT(file_size, RLIMIT_FSIZE)
#undef SANDBOX_LIMIT

/* What root may do without a limit, it needs a limit for once its capabilities are gone. */
static inline int sandbox_shim_keep_realtime(int priority)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_RTPRIO, &limit) < 0)
        return -1;
    if (limit.rlim_cur >= (rlim_t)priority)
        return 0;
    limit.rlim_cur = (rlim_t)priority;
    if (limit.rlim_max < limit.rlim_cur)
        limit.rlim_max = limit.rlim_cur;
    return setrlimit(RLIMIT_RTPRIO, &limit);
}

/* A write past the limit of a file's size is an error, not the end. */
static inline void sandbox_shim_ignore_file_size(void) { signal(SIGXFSZ, SIG_IGN); }

#if defined(__x86_64__)
#define SANDBOX_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SANDBOX_ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__arm__)
#define SANDBOX_ARCHITECTURE AUDIT_ARCH_ARM
#elif defined(__riscv) && __riscv_xlen == 64
#define SANDBOX_ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

/* Calls that neither a player nor an application has a use for, whatever their arguments. */
static const uint32_t sandbox_refused[] = {
    /* the memory of other programs */
    __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_kcmp,
#ifdef __NR_pidfd_getfd
    __NR_pidfd_getfd,
#endif
#ifdef __NR_process_madvise
    __NR_process_madvise,
#endif
    /* the file system's shape, and ways around its names */
    __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_open_by_handle_at, __NR_mknodat, __NR_quotactl,
    __NR_swapon, __NR_swapoff, __NR_fanotify_init, __NR_fanotify_mark,
#ifdef __NR_mknod
    __NR_mknod,
#endif
#ifdef __NR_open_tree
    __NR_open_tree, __NR_move_mount, __NR_fsopen, __NR_fsconfig, __NR_fsmount, __NR_fspick,
#endif
#ifdef __NR_mount_setattr
    __NR_mount_setattr,
#endif
    /* namespaces */
    __NR_unshare, __NR_setns,
    /* large, rarely needed parts of the kernel */
    __NR_bpf, __NR_perf_event_open, __NR_userfaultfd, __NR_add_key, __NR_request_key, __NR_keyctl, __NR_personality,
#ifdef __NR_io_uring_setup
    __NR_io_uring_setup, __NR_io_uring_enter, __NR_io_uring_register,
#endif
#ifdef __NR_memfd_secret
    __NR_memfd_secret,
#endif
    /* the machine */
    __NR_init_module, __NR_finit_module, __NR_delete_module, __NR_reboot, __NR_settimeofday, __NR_clock_settime,
    __NR_adjtimex, __NR_clock_adjtime, __NR_sethostname, __NR_setdomainname, __NR_syslog, __NR_acct, __NR_vhangup,
#ifdef __NR_kexec_load
    __NR_kexec_load,
#endif
#ifdef __NR_kexec_file_load
    __NR_kexec_file_load,
#endif
#ifdef __NR_iopl
    __NR_iopl, __NR_ioperm,
#endif
};

#ifdef SANDBOX_ARCHITECTURE
enum { SANDBOX_REFUSED = sizeof sandbox_refused / sizeof *sandbox_refused };

#define LOAD(member) code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define SKIP(test, value, met, unmet) code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | test | BPF_K, value, met, unmet)
#define ANSWER(answer) code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer)
#define REFUSED (SECCOMP_RET_ERRNO | EPERM)

/* Lets a filter begin with the architecture and what is refused to everybody. Returns the number of its steps. */
static inline unsigned sandbox_shim_begin_filter(struct sock_filter *code)
{
    unsigned n = 0;
    LOAD(arch);
    SKIP(BPF_JEQ, SANDBOX_ARCHITECTURE, 1, 0);
    ANSWER(SECCOMP_RET_KILL_PROCESS);
    LOAD(nr);
#ifdef __x86_64__
    /* the x32 calls */
    SKIP(BPF_JGE, 0x40000000, 0, 1);
    ANSWER(REFUSED);
#endif
    for (unsigned call = 0; call < SANDBOX_REFUSED; call++) {
        SKIP(BPF_JEQ, sandbox_refused[call], 0, 1);
        ANSWER(REFUSED);
    }
    return n;
}

/* Has a filter of n steps allow IPv4 and IPv6 sockets that are not raw, the kernel's news of links and, if `local`, local
 * sockets. Returns the number of its steps. */
static inline unsigned sandbox_shim_judge_sockets(struct sock_filter *code, unsigned n, int local)
{
    SKIP(BPF_JEQ, __NR_socket, 0, 13);
    LOAD(args[0]);
    SKIP(BPF_JEQ, AF_NETLINK, 9, 0);
    SKIP(BPF_JEQ, local ? AF_UNIX : AF_INET, 2, 0);
    SKIP(BPF_JEQ, AF_INET, 1, 0);
    SKIP(BPF_JEQ, AF_INET6, 0, 7);
    LOAD(args[1]);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf);
    SKIP(BPF_JEQ, SOCK_STREAM, 3, 0);
    SKIP(BPF_JEQ, SOCK_DGRAM, 2, 0);
    SKIP(BPF_JEQ, SOCK_SEQPACKET, 1, 0);
    ANSWER(REFUSED);
    ANSWER(SECCOMP_RET_ALLOW);
    ANSWER(REFUSED);
    return n;
}
#endif

/* Filters the system calls of all threads. Calls that a player has no use for answer "not permitted". */
static inline int sandbox_shim_filter_calls(void)
{
#ifndef SANDBOX_ARCHITECTURE
    errno = ENOSYS;
    return -1;
#else
    /* Calls of programs, of which a player starts none. */
    static const uint32_t refused[] = {
        __NR_execve, __NR_execveat, __NR_tkill,
#ifdef __NR_fork
        __NR_fork, __NR_vfork,
#endif
#ifdef __NR_pidfd_send_signal
        __NR_pidfd_send_signal,
#endif
#ifdef __NR_pidfd_open
        __NR_pidfd_open,
#endif
    };
    /* Calls that may name this process and no other. */
    static const uint32_t own[] = {__NR_kill, __NR_tgkill, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo};
    enum { COUNT = sizeof refused / sizeof *refused, OWN = sizeof own / sizeof *own };
    struct sock_filter code[8 + 2 * SANDBOX_REFUSED + 2 * COUNT + 4 * OWN + 48];
    unsigned n = 0;
    n = sandbox_shim_begin_filter(code);
    for (unsigned call = 0; call < COUNT; call++) {
        SKIP(BPF_JEQ, refused[call], 0, 1);
        ANSWER(REFUSED);
    }
    /* The C library then makes threads by the older call, whose flags can be looked at. */
#ifdef __NR_clone3
    SKIP(BPF_JEQ, __NR_clone3, 0, 1);
    ANSWER(SECCOMP_RET_ERRNO | ENOSYS);
#endif
    /* Threads, no processes. */
    SKIP(BPF_JEQ, __NR_clone, 0, 5);
    LOAD(args[0]);
    SKIP(BPF_JSET, CLONE_THREAD, 0, 2);
    SKIP(BPF_JSET, CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP, 1, 0);
    ANSWER(SECCOMP_RET_ALLOW);
    ANSWER(REFUSED);
    for (unsigned call = 0; call < OWN; call++) {
        SKIP(BPF_JEQ, own[call], 0, 4);
        LOAD(args[0]);
        SKIP(BPF_JEQ, (uint32_t)getpid(), 0, 1);
        ANSWER(SECCOMP_RET_ALLOW);
        ANSWER(REFUSED);
    }
    n = sandbox_shim_judge_sockets(code, n, 1);
    /* A terminal that was inherited is not typed into. */
    SKIP(BPF_JEQ, __NR_ioctl, 0, 4);
    LOAD(args[1]);
    SKIP(BPF_JEQ, 0x5412, 1, 0);
    SKIP(BPF_JEQ, 0x541C, 0, 1);
    ANSWER(REFUSED);
    ANSWER(SECCOMP_RET_ALLOW);
    struct sock_fprog program = {(unsigned short)n, code};
    return (int)syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
#endif
}

enum { SANDBOX_FILTER_ROOM = 512 };

/* Writes the filter for an application, which starts programs but neither traces them nor makes namespaces, and holds no
 * memory that belongs to no process. With the host's network it listens to nobody, and local sockets, of which some have no
 * file, lead nowhere. Returns the number of steps; 0 where the architecture is not known. */
static inline unsigned sandbox_shim_application_filter(int network, struct sock_filter code[SANDBOX_FILTER_ROOM])
{
#ifndef SANDBOX_ARCHITECTURE
    return 0;
#else
    static const uint32_t refused[] = {__NR_memfd_create, __NR_shmget, __NR_msgget, __NR_semget, __NR_mq_open};
    unsigned n = sandbox_shim_begin_filter(code);
    for (unsigned call = 0; call < sizeof refused / sizeof *refused; call++) {
        SKIP(BPF_JEQ, refused[call], 0, 1);
        ANSWER(REFUSED);
    }
#ifdef __NR_clone3
    SKIP(BPF_JEQ, __NR_clone3, 0, 1);
    ANSWER(SECCOMP_RET_ERRNO | ENOSYS);
#endif
    SKIP(BPF_JEQ, __NR_clone, 0, 4);
    LOAD(args[0]);
    SKIP(BPF_JSET, CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP, 0, 1);
    ANSWER(REFUSED);
    ANSWER(SECCOMP_RET_ALLOW);
    if (network) {
        SKIP(BPF_JEQ, __NR_listen, 0, 1);
        ANSWER(REFUSED);
        /* The C library binds sockets to the kernel's news of links, whose addresses are shorter than all others. */
        SKIP(BPF_JEQ, __NR_bind, 0, 4);
        LOAD(args[2]);
        SKIP(BPF_JEQ, 12, 0, 1);
        ANSWER(SECCOMP_RET_ALLOW);
        ANSWER(REFUSED);
    }
    n = sandbox_shim_judge_sockets(code, n, !network);
    ANSWER(SECCOMP_RET_ALLOW);
    return n;
#endif
}
#undef LOAD
#undef SKIP
#undef ANSWER
#undef REFUSED
