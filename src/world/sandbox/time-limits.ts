/** Without other wishes, of one run. */
export const defaultCpuMs = 5_000
/** Wall time over processor time: on a busy machine a program may get a twentieth of a processor and still has its time. */
export const patience = 20
/** How long a program may sleep, over its processor time. One that sleeps on is too slow, however busy the machine. */
export const sleepAllowance = 2
