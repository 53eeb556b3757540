import type { BenchContext } from './context.ts'

/** One of the things that the bench measures: told as text, as figures for a program, and what was not right. */
export interface PartReport {
  tables: readonly string[]
  figures: unknown
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
