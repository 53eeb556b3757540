import { median, medianRatio, sum } from '../../test/harness/statistics.ts'

const greatest = (values: readonly number[]) => Math.max(...values)

/** Every figure, in the order of the columns, and how the rounds combine into one value. */
const FIGURES = {
  perSecond: { title: '/s', combine: median },
  perCpuSecond: { title: '/CPU s', combine: median },
  startMs: { title: 'ms', combine: median },
  meanMs: { title: 'mean ms', combine: median },
  p50Ms: { title: 'p50 ms', combine: median },
  p90Ms: { title: 'p90 ms', combine: median },
  p99Ms: { title: 'p99 ms', combine: median },
  p999Ms: { title: 'p99.9 ms', combine: median },
  maxMs: { title: 'max ms', combine: greatest },
  lateMs: { title: 'sent late p99 ms', combine: median },
  served: { title: '200', combine: sum },
  shed: { title: '503', combine: sum },
  limited: { title: '429', combine: sum },
  shedP99Ms: { title: '503 p99 ms', combine: median },
  changes: { title: 'shown', combine: sum },
  overtaken: { title: 'overtaken', combine: sum },
  backlog: { title: 'backlog', combine: median },
  inFlight: { title: 'in flight', combine: greatest },
  corePercent: { title: '% of a core', combine: median },
  openSearchMicros: { title: 'OpenSearch µs', combine: median },
  redisMicros: { title: 'Redis µs', combine: median },
  processMicros: { title: 'process µs', combine: median },
  watchMicros: { title: 'watch µs', combine: median },
  benchMicros: { title: 'bench µs', combine: median },
  megabytes: { title: 'MB', combine: greatest },
  loadSeconds: { title: 'load s', combine: median },
  diskMegabytes: { title: 'MB on disk', combine: median },
  segments: { title: 'segments', combine: median },
} as const

export type Figure = keyof typeof FIGURES
const figureNames = Object.keys(FIGURES) as Figure[]

/** One measurement of a contender; CPU times are microseconds for each response. */
export interface Sample extends Partial<Record<Figure, number>> {
  answers?: number
  /** Kind of wrong response → how often. */
  failures?: Readonly<Record<string, number>>
}

/** The measurements of each contender of a scenario, one for each round. */
export interface Result {
  name: string
  samples: Record<string, Sample[]>
}

/** One contender's figure divided by that of another, in each round. The history records it. */
export interface Ratio {
  /** Its name in the history, before that of the scenario. */
  name: string
  of: string
  per: string
  figure: Figure
  /** Whether less is better. */
  isCost?: boolean
}

/** Scenarios that a part reports together, as one table. */
export interface Section {
  title: string
  results: readonly Result[]
  /** The contender that the table compares the others with. */
  base?: string
  ratios?: readonly Ratio[]
  /** After the name of each scenario in the history. */
  suffix?: string
  /** Lines below the table. */
  notes?: readonly string[]
}

/**
 * Ratios of two contenders of one run, by name. A faster machine does not change them. The name of
 * a figure that is no ratio has its unit, and such figures are compared on one kind of machine
 * only.
 */
export type Ratios = Record<string, number>

/** What the history records: of `ratios` the greater are better, of `costs` the smaller. */
export interface Recorded {
  ratios: Ratios
  costs: Ratios
}

export interface PartReport {
  sections: readonly Section[]
  /** Besides the ratios of the sections. */
  recorded?: Partial<Recorded>
  /** Besides the failures of the samples. */
  failures?: readonly string[]
}

/** The measurements of one contender's figure, one for each round. */
export function valuesOf({ samples }: Result, contender: string, figure: Figure): number[] {
  return (samples[contender] ?? []).map((sample) => sample[figure] ?? Number.NaN)
}

/** The figure of all rounds. */
export function combined(result: Result, contender: string, figure: Figure): number {
  return FIGURES[figure].combine(valuesOf(result, contender, figure))
}

export function ratioOf(result: Result, { of, per, figure }: Omit<Ratio, 'name'>): number {
  return medianRatio(valuesOf(result, of, figure), valuesOf(result, per, figure))
}

export function recordedOf({ sections, recorded }: PartReport): Recorded {
  const named = (wanted: boolean): Ratios => {
    const entries = sections.flatMap(({ ratios = [], results, suffix = '' }) =>
      results.flatMap((result) =>
        ratios
          .filter(({ isCost = false }) => isCost === wanted)
          .map((ratio) => [
            `${ratio.name} ${result.name}${suffix}`.trimEnd(),
            ratioOf(result, ratio),
          ]),
      ),
    )
    return Object.fromEntries(entries)
  }
  return {
    ratios: { ...named(false), ...recorded?.ratios },
    costs: { ...named(true), ...recorded?.costs },
  }
}

/** The wrong responses, a line for each kind and contender: they void the figures. */
export function failuresOf({ sections, failures = [] }: PartReport): string[] {
  return [...sections.flatMap(({ results }) => results.flatMap(failuresIn)), ...failures]
}

function failuresIn({ name, samples }: Result): string[] {
  return Object.entries(samples).flatMap(([contender, taken]) => {
    const answers = sum(taken.map((sample) => sample.answers ?? 0))
    const all = taken.flatMap(({ failures = {} }) => Object.entries(failures))
    return [...Map.groupBy(all, ([what]) => what)].map(([what, counts]) => {
      const times = sum(counts.map(([, count]) => count))
      return `! ${name}, ${contender}: ${what}, ${times} of ${answers} responses`
    })
  })
}

/** A row for each contender of each scenario; `!` marks those with wrong responses. */
export function renderSection({ title, results, base, notes = [] }: Section): string {
  const taken = results.flatMap(({ samples }) => Object.values(samples).flat())
  const figures = figureNames.filter((name) => taken.some((sample) => sample[name] !== undefined))
  const rows = results.flatMap((result) => {
    const mark = failuresIn(result).length > 0 ? '! ' : ''
    return Object.keys(result.samples).map((contender, at) => {
      const cells = figures.map((figure) => {
        const text = formatFigure(combined(result, contender, figure))
        if (base === undefined || base === contender) return text
        const ratio = ratioOf(result, { of: contender, per: base, figure })
        return Number.isFinite(ratio) ? `${text} ×${formatRatio(ratio)}` : text
      })
      return [at === 0 ? `${mark}${result.name}` : '', contender, ...cells]
    })
  })
  const columns = ['', '', ...figures.map((figure) => FIGURES[figure].title)]
  return [title, '', renderTable(columns, rows), ...notes].join('\n')
}

/** The first figure of a measurement. */
export function describeSample(sample: Sample): string {
  const [first] = figureNames.filter((name) => sample[name] !== undefined)
  if (first === undefined) return '-'
  return `${formatFigure(sample[first] ?? Number.NaN)} ${FIGURES[first].title}`
}

/** Renders a table: the first two columns are left-aligned, the others right-aligned. */
export function renderTable(names: readonly string[], rows: readonly (readonly string[])[]) {
  const widths = names.map((name, at) =>
    Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    widths
      .map((width, at) => (at < 2 ? cells[at]?.padEnd(width) : cells[at]?.padStart(width)))
      .join('  ')
      .trimEnd()
  return [line(names), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

/** Formats with three significant digits or more: 0.123, 1.23, 12.3, 123, 12345. */
export function formatFigure(value: number): string {
  if (!Number.isFinite(value)) return '-'
  const decimals = [1, 10, 100].filter((bound) => Math.abs(value) < bound).length
  return value.toFixed(decimals)
}

/** Formats with two decimals, since smaller differences are noise. */
export function formatRatio(ratio: number): string {
  return Number.isFinite(ratio) ? ratio.toFixed(2) : '-'
}
