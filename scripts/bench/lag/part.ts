import type { Part } from '../part.ts'
import { compareLag } from './compare.ts'
import { lagFailures, lagFigures, renderLag } from './report.ts'

/** Of the index: before it, nobody is shown a change, so that a lag says more in refreshes than in seconds. */
const REFRESH_SECONDS = 1

export const lagPart: Part = {
  name: 'lag',
  about: 'how long a change takes from the stream to the API',
  async measure(context) {
    const lag = await compareLag(context)
    const figures = lagFigures(lag)
    const costs = {
      'p50 lag÷refresh': figures.p50 / REFRESH_SECONDS,
      'p99 lag÷refresh': figures.p99 / REFRESH_SECONDS,
      'CPU watch÷OpenSearch': figures.cpu.watch / figures.cpu.openSearch,
    }
    return { tables: [renderLag(lag)], figures, costs, failures: lagFailures(lag) }
  },
}
