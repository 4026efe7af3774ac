/** Whether tests look at all cases they know of, which takes longer than one wants to wait every day. */
export const isFull = process.env['COA_TEST_FULL'] === '1'

/** How many cases a slow test looks at: all of them with COA_TEST_FULL=1, else a tenth. */
export const howMany = (all: number): number => (isFull ? all : Math.ceil(all / 10))
