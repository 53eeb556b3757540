import type { Part } from '../context.ts'
import { describeSample, type PartReport, type Sample } from '../report.ts'
import { openLag, WARM_UP_SECONDS } from './lag/pipeline.ts'

/** The index refreshes once a second, so a lag is best expressed in refreshes. */
const REFRESH_MS = 1_000
const LEGEND = `lags: from sending a change to the stream until a follower has the page with it; a follower at the end of a listing
requests it again 0.1 s later, which is part of the lag; shown: once for each follower; overtaken: changed again before it was shown
backlog: unprocessed entries when the last had entered; µs: CPU time of a change, in OpenSearch, the API (process) and the watch`

/**
 * The lag from end to end: changes enter the stream at a rate, a watch indexes them, and followers
 * of some accounts record when the API first returns each.
 */
export const lagPart: Part = {
  name: 'lag',
  about: 'the delay of a change from the stream to the API',
  async measure(context, scope) {
    const { options, log } = context
    const { rate, seconds, rounds } = options
    const { measure } = await openLag(context, scope)
    log('warming up …')
    const warmUp = await measure(WARM_UP_SECONDS)
    const samples: Sample[] = []
    while (samples.length < rounds) {
      const sample = await measure(seconds)
      samples.push(sample)
      log(`round ${samples.length}/${rounds}: ${describeSample(sample)}`)
    }
    return reportLag(`${rate} changes a second`, warmUp, samples)
  },
}

/** The figures of the warm-up do not count, but its rows have to be right. */
export function reportLag(name: string, warmUp: Sample, samples: Sample[]): PartReport {
  const refresh = samples.map(() => ({ p50Ms: REFRESH_MS, p99Ms: REFRESH_MS }))
  const lag = { of: 'lag', per: 'refresh', isCost: true } as const
  const ratios = [
    { ...lag, name: 'p50 lag÷refresh', figure: 'p50Ms' },
    { ...lag, name: 'p99 lag÷refresh', figure: 'p99Ms' },
  ] as const
  const results = [{ name, samples: { refresh, lag: samples, 'warming up': [warmUp] } }]
  return { sections: [{ title: 'The lag', results, base: 'refresh', ratios, notes: [LEGEND] }] }
}
