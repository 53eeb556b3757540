import type { BenchContext } from './context.ts'

/** Ratios of two contenders of one run, by name. A faster machine does not change them. */
export type Ratios = Readonly<Record<string, number>>

export interface PartReport {
  tables: readonly string[]
  /** For a program to read. */
  figures: unknown
  /** What the history records: the greater, the better. */
  ratios?: Ratios
  /** What the history records: the smaller, the better. */
  costs?: Ratios
  /** Answers that were wrong: they void the figures. */
  failures: readonly string[]
}

/** One of the comparisons that the bench can run. */
export interface Part {
  /** The value of `--only`. */
  name: string
  /** What it measures, for the usage. */
  about: string
  /** Runs the contenders. What it defers to `scope` runs when the part ends, also after an error. */
  measure(context: BenchContext, scope: AsyncDisposableStack): Promise<PartReport>
}
