import type { BenchContext } from './context.ts'

/** One side of a run by another: on a machine twice as fast, they are the same. */
export type Ratios = Readonly<Record<string, number>>

/** One of the things that the bench measures: told as text, as figures for a program, and what was not right. */
export interface PartReport {
  tables: readonly string[]
  figures: unknown
  /**
   * What the history keeps, each under a name that says what it is, such as "api÷raw large created 20": the
   * greater, the better.
   */
  ratios?: Ratios
  /** The same of what should be small, such as "p50 api÷raw large created 20". */
  costs?: Ratios
  /** Answers that were not as they should be: the figures then say nothing. */
  failures: readonly string[]
}

export interface Part {
  /** What `--only` calls it. */
  name: string
  /** What it measures, for the usage. */
  about: string
  measure(context: BenchContext): Promise<PartReport>
}
