import { type HeatResult, summarize } from '../measuring/race.ts'

/** Whether a request of a case was not answered as expected: its figures then say nothing. */
export function failed(result: HeatResult): boolean {
  return failuresOf(result).length > 0
}

/** What went wrong in a case, a line for each kind and side. */
export function failuresOf({ name, samples }: HeatResult): string[] {
  return Object.entries(samples).flatMap(([side, taken]) => {
    const { answers, failures } = summarize(taken)
    return Object.entries(failures).map(
      ([what, times]) => `! ${name}, ${side}: ${what}, ${times} of ${answers} answers`,
    )
  })
}
