import type { Part } from '../part.ts'
import { failuresOf } from '../reporting/failures.ts'
import { compareSettings } from './compare.ts'
import { renderSettings, settingsFigures } from './report.ts'

export const settingsPart: Part = {
  name: 'settings',
  about: 'what else of a search, an index and its connections could be set',
  async measure(context) {
    const compared = await compareSettings(context)
    const { searches, indices, sockets } = compared
    return {
      tables: renderSettings(compared),
      figures: settingsFigures(compared),
      failures: [...searches, ...indices, ...sockets].flatMap(failuresOf),
    }
  },
}
