export const defaultCpuMs = 5_000
/**
 * Default ratio of wall time to CPU time: a program that gets only a twentieth of a CPU on a busy machine can still
 * use its CPU time.
 */
export const wallTimeFactor = 20
/**
 * How long a program may sleep, relative to its CPU time limit. One that sleeps longer is too slow, however busy the
 * machine is.
 */
export const sleepAllowance = 2
