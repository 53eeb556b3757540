/** Whether this run tries all cases of the models and properties; `CI_FULL=1` sets it. */
const isFull = process.env['CI_FULL'] === '1'

/** How many cases a test tries: the first number in every run, the second where the run is a full one. */
export const byEffort = (usual: number, full: number): number => (isFull ? full : usual)
