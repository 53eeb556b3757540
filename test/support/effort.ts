/** Whether this run tries all cases of the models and properties; `CI_FULL=1` enables it. */
const isFull = process.env['CI_FULL'] === '1'

/** The number of cases of a test: the first number by default, the second in a full run. */
export const byEffort = (usual: number, full: number): number => (isFull ? full : usual)
