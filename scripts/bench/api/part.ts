import type { Part } from '../part.ts'
import { failuresOf } from '../reporting/failures.ts'
import { compareApi } from './compare.ts'
import { apiFigures, renderApi } from './report.ts'

export const apiPart: Part = {
  name: 'api',
  about: 'the service beside the raw search',
  async measure(context) {
    const compared = await compareApi(context)
    return {
      tables: compared.map((comparison) => renderApi(comparison, context.cases)),
      figures: compared.map((comparison) => {
        return { ...comparison, results: comparison.results.map(apiFigures) }
      }),
      failures: compared.flatMap(({ results }) => results.flatMap(failuresOf)),
    }
  },
}
