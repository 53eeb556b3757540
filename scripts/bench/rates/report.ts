import { median, medianRatio } from '../measuring/figures.ts'
import { type HeatResult, type Sample, summarize } from '../measuring/race.ts'
import type { Ratios } from '../part.ts'
import { failuresOf } from '../reporting/failures.ts'
import { formatFigure, formatPair, renderTable } from '../reporting/table.ts'
import { type ArrivalResult, type RatesComparison, sides } from './compare.ts'
import { summarizeLatencies } from './latencies.ts'

const NAMES = ['', '/s', 'p50 ms', 'p90 ms', 'p99 ms', 'p99.9 ms', 'max ms', 'sent late ms']
const UNLOADED_NAMES = ['one request at a time', 'raw p50 ms', 'api p50 ms', 'added ms']
const LEGEND = `ceiling: a closed loop, answers a second; %: so much of a side's own ceiling arrives, however slow it is, and a time counts from
when a request was due; max: of all rounds; sent late: p50/p99 of how late this process was itself, which is in the times`

/** What the service adds to the search while nothing else is asked for: the median of the rounds. */
export function addedMs({ samples }: HeatResult): number {
  const { raw = [], api = [] } = samples
  return median(api.map(({ p50Ms }, round) => p50Ms - (raw[round]?.p50Ms ?? Number.NaN)))
}

/** The ceiling of the service by that of the search: the greater, the better. */
export function rateRatios({ ceilings }: RatesComparison): Ratios {
  const rates = (samples: readonly Sample[] = []) => samples.map(({ perSecond }) => perSecond)
  const ratios = ceilings.map(({ name, samples }) => {
    return [`ceiling api÷raw ${name}`, medianRatio(rates(samples['api']), rates(samples['raw']))]
  })
  return Object.fromEntries(ratios)
}

/** What the service's answers take by what the search's do: the smaller, the better. */
export function rateCosts({ unloaded, arrivals }: RatesComparison): Ratios {
  const p50s = (samples: readonly { p50Ms: number }[] = []) => samples.map(({ p50Ms }) => p50Ms)
  const p99s = (samples: readonly { p99Ms: number }[] = []) => samples.map(({ p99Ms }) => p99Ms)
  const alone = unloaded.map(({ name, samples }) => {
    return [
      `p50 api÷raw ${name}, unloaded`,
      medianRatio(p50s(samples['api']), p50s(samples['raw'])),
    ]
  })
  const arrived = arrivals.flatMap(({ name, share, samples: { raw, api } }) => [
    [`p50 api÷raw ${name}, at ${100 * share}%`, medianRatio(p50s(api), p50s(raw))],
    [`p99 api÷raw ${name}, at ${100 * share}%`, medianRatio(p99s(api), p99s(raw))],
  ])
  return Object.fromEntries([...alone, ...arrived])
}

/** Every figure, for a program to read. */
export function rateFigures({ connections, ceilings, unloaded, arrivals }: RatesComparison) {
  const summarized = ({ name, samples }: HeatResult) => {
    const all = Object.entries(samples).map(([side, taken]) => [side, summarize(taken)])
    return { case: name, ...Object.fromEntries(all), rounds: samples }
  }
  return {
    connections,
    ceilings: ceilings.map(summarized),
    unloaded: unloaded.map((result) => ({ ...summarized(result), addedMs: addedMs(result) })),
    arrivals: arrivals.map(({ name, share, samples }) => ({
      case: name,
      share,
      raw: summarizeLatencies(samples.raw),
      api: summarizeLatencies(samples.api),
      rounds: samples,
    })),
  }
}

/** How long answers take at a rate, as tables. */
export function renderRates(comparison: RatesComparison): string {
  const { connections, ceilings, unloaded, arrivals } = comparison
  const rows = ceilings.flatMap((ceiling) => [
    ...ceilingRows(ceiling),
    ...arrivals.filter(({ name }) => name === ceiling.name).flatMap(arrivalRows),
  ])
  const alone = unloaded.map((result) => {
    const p50 = (side: string) => summarize(result.samples[side] ?? []).p50Ms
    return [result.name, ...[p50('raw'), p50('api'), addedMs(result)].map(formatFigure)]
  })
  return [
    `Latencies at a rate; the ceiling with ${connections} connections`,
    '',
    renderTable(NAMES, rows),
    LEGEND,
    '',
    renderTable(UNLOADED_NAMES, alone),
  ].join('\n')
}

/** What was not answered as expected, a line for each kind. */
export function rateFailures({ ceilings, unloaded, arrivals }: RatesComparison): string[] {
  const arrived = arrivals.flatMap(({ name, share, samples }) =>
    sides.flatMap((side) => {
      const { answers, failures } = summarizeLatencies(samples[side])
      return Object.entries(failures).map(
        ([what, times]) =>
          `! ${name} at ${100 * share}%, ${side}: ${what}, ${times} of ${answers} answers`,
      )
    }),
  )
  return [...[...ceilings, ...unloaded].flatMap(failuresOf), ...arrived]
}

function ceilingRows({ name, samples }: HeatResult): string[][] {
  return sides.map((side) => {
    const { perSecond, p50Ms, p99Ms } = summarize(samples[side] ?? [])
    const [rate, p50, p99] = [perSecond, p50Ms, p99Ms].map(formatFigure)
    return [`${name}, ${side}, ceiling`, rate ?? '', p50 ?? '', '-', p99 ?? '', '-', '-', '-']
  })
}

function arrivalRows({ share, name, samples }: ArrivalResult): string[][] {
  return sides.map((side) => {
    const one = summarizeLatencies(samples[side])
    const figures = [one.rate, one.p50Ms, one.p90Ms, one.p99Ms, one.p999Ms, one.mostMs]
    const late = formatPair(one.late.p50Ms, one.late.p99Ms)
    return [`${name}, ${side}, ${100 * share}%`, ...figures.map(formatFigure), late]
  })
}
