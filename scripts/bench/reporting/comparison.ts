import { median, medianRatio, summarize } from '../measuring/figures.ts'
import type { Result, Sample } from '../measuring/race.ts'
import type { PartReport, Ratios } from '../part.ts'
import { formatAll, formatRatio, formatWithRatio, renderTable } from './table.ts'

type Figure<S> = (sample: S) => number

/** The figures of a sample that tables show. */
export const figure = {
  perSecond: (sample: { perSecond: number }) => sample.perSecond,
  p50: (sample: { p50Ms: number }) => sample.p50Ms,
  p99: (sample: { p99Ms: number }) => sample.p99Ms,
  apiCpu: ({ cpu }: Sample) => cpu.api,
  openSearchCpu: ({ cpu }: Sample) => cpu.openSearch,
  redisCpu: ({ cpu }: Sample) => cpu.redis,
  megabytes: ({ residentBytes = Number.NaN }: Sample) => residentBytes / 2 ** 20,
}

/** One contender's figure divided by that of another, in each round. */
export interface Ratio<S = Sample> {
  of: string
  per: string
  figure: Figure<S>
  /** Its name in the JSON file. */
  key?: string
  /** Its name in the history, before that of the scenario; absent where it is not recorded. */
  recordedAs?: string
  /** Whether less is better. */
  isCost?: boolean
}

/** A column of a table that has one row for each scenario. */
export interface Column<S = Sample> {
  title: string
  cell(result: Result<S>): string
}

/** Scenarios that a part reports together: what they are compared by, and how that is shown. */
export interface Section<S extends object = Sample> {
  title: string
  /** Above the names of the scenarios. */
  heading: string
  results: readonly Result<S>[]
  tables: readonly (readonly Column<S>[])[]
  ratios: readonly Ratio<S>[]
  /** After the name of each scenario in the history. */
  suffix?: string
  /** Lines below the tables. */
  legend: readonly string[]
  /** Further figures for the JSON file. */
  extra?: object
}

/** The report of a part that consists of sections. The history records the first `recorded` of them. */
export function reportSections<S extends object>(
  sections: readonly Section<S>[],
  recorded = sections.length,
): PartReport {
  const kept = sections.slice(0, recorded).map(({ results, ratios, suffix = '' }) => {
    const named = results.map((result) => ({ ...result, name: `${result.name}${suffix}` }))
    return recordedOf(named, ratios)
  })
  return {
    tables: sections.map(({ title, heading, results, tables, legend }) => {
      const rendered = tables.map((columns) => renderResults(heading, columns, results))
      return [title, ...rendered.map((table) => `\n${table}`), ...legend].join('\n')
    }),
    figures: sections.map(({ results, ratios, extra }) => {
      return { ...extra, results: results.map((result) => figuresOf(result, ratios)) }
    }),
    ratios: Object.assign({}, ...kept.map(({ ratios }) => ratios)),
    costs: Object.assign({}, ...kept.map(({ costs }) => costs)),
    failures: sections.flatMap(({ results }) => results.flatMap(failuresOf)),
  }
}

/** The measurements of one contender's figure, one for each round. */
export function valuesOf<S>({ samples }: Result<S>, contender: string, of: Figure<S>): number[] {
  return (samples[contender] ?? []).map(of)
}

export function ratioOf<S>(result: Result<S>, { of, per, figure: by }: Ratio<S>): number {
  return medianRatio(valuesOf(result, of, by), valuesOf(result, per, by))
}

/** A column with the medians of a figure, for one or several contenders. */
export function figureColumn<S = Sample>(
  title: string,
  contenders: readonly string[],
  of: Figure<S>,
): Column<S> {
  const medianOf = (result: Result<S>) => (name: string) => median(valuesOf(result, name, of))
  return { title, cell: (result) => formatAll(contenders.map(medianOf(result))) }
}

export function ratioColumn<S>(title: string, ratio: Ratio<S>): Column<S> {
  return { title, cell: (result) => formatRatio(ratioOf(result, ratio)) }
}

/** A figure of one contender, and how many times that of `base` it is. */
export function timesCell<S>(result: Result<S>, contender: string, base: string, of: Figure<S>) {
  const ratio = ratioOf(result, { of: contender, per: base, figure: of })
  return formatWithRatio(median(valuesOf(result, contender, of)), ratio)
}

/** Renders a row for each scenario; `!` marks those with wrong answers. */
export function renderResults<S extends object>(
  heading: string,
  columns: readonly Column<S>[],
  results: readonly Result<S>[],
): string {
  const rows = results.map((result) => {
    const mark = failuresOf(result).length > 0 ? '! ' : ''
    return [`${mark}${result.name}`, ...columns.map(({ cell }) => cell(result))]
  })
  return renderTable([heading, ...columns.map(({ title }) => title)], rows)
}

/** A scenario's figures and ratios, for a program to read. */
export function figuresOf<S extends object>(result: Result<S>, ratios: readonly Ratio<S>[] = []) {
  const contenders = Object.entries(result.samples).map(([name, samples]) => {
    return [name, summarize(samples)]
  })
  const compared = ratios.map((ratio) => [ratio.key, ratioOf(result, ratio)])
  const figures = Object.fromEntries([...contenders, ...compared])
  return { case: result.name, ...figures, rounds: result.samples }
}

/** The ratios and costs of all scenarios under the names of the history. */
export function recordedOf<S>(results: readonly Result<S>[], ratios: readonly Ratio<S>[]) {
  const named = (wanted: boolean): Ratios => {
    const recorded = ratios.filter(
      ({ recordedAs, isCost = false }) => recordedAs && isCost === wanted,
    )
    const entries = results.flatMap((result) =>
      recorded.map((ratio) => [`${ratio.recordedAs} ${result.name}`, ratioOf(result, ratio)]),
    )
    return Object.fromEntries(entries)
  }
  return { ratios: named(false), costs: named(true) }
}

/** The wrong answers in a scenario, a line for each kind and contender. */
export function failuresOf<S extends object>({ name, samples }: Result<S>): string[] {
  return Object.entries(samples).flatMap(([contender, taken]) => {
    const { answers, failures = {} }: Failures = summarize(taken)
    return Object.entries(failures).map(
      ([what, times]) => `! ${name}, ${contender}: ${what}, ${times} of ${answers} answers`,
    )
  })
}

interface Failures {
  answers?: number
  failures?: Readonly<Record<string, number>>
}

/** Failures outside of a scenario, a line for each kind. */
export function failureLines(name: string, failures: Readonly<Record<string, number>>): string[] {
  return Object.entries(failures).map(([what, times]) => `! ${name}: ${what}, ${times} times`)
}
