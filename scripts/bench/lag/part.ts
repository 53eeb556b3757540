import type { Part } from '../part.ts'
import { compareLag } from './compare.ts'
import { lagFailures, lagFigures, renderLag } from './report.ts'

export const lagPart: Part = {
  name: 'lag',
  about: 'how long a change takes from the stream to the API',
  async measure(context) {
    const lag = await compareLag(context)
    return { tables: [renderLag(lag)], figures: lagFigures(lag), failures: lagFailures(lag) }
  },
}
