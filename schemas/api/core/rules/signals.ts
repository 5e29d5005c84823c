/** Signals that stop containers. */

const REAL_TIME = 15

/** The signals of Linux, in the order of their listing: SIGRTMIN and what is added to it count up, SIGRTMAX down. */
export const SIGNALS: readonly string[] = [
  ...('SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT SIGKILL SIGPIPE ' +
    'SIGPOLL SIGPROF SIGPWR SIGQUIT SIGSEGV SIGSTKFLT SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG ' +
    'SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ SIGRTMIN').split(' '),
  ...Array.from({ length: REAL_TIME }, (_, index) => `SIGRTMIN+${index + 1}`),
  ...Array.from({ length: REAL_TIME - 1 }, (_, index) => `SIGRTMAX-${REAL_TIME - 1 - index}`),
  'SIGRTMAX'
]

/** Those that Windows has. */
export const SIGNALS_OF_WINDOWS: readonly string[] = ['SIGKILL', 'SIGTERM']
