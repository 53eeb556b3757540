import type { Part } from '../part.ts'
import { failuresOf } from '../reporting/failures.ts'
import { compareApi } from './compare.ts'
import { apiFigures, apiRatios, renderApi } from './report.ts'

export const apiPart: Part = {
  name: 'api',
  about: 'the service beside the raw search, a peer, and itself without OpenSearch',
  async measure(context) {
    const compared = await compareApi(context)
    return {
      tables: compared.map((comparison) => renderApi(comparison, context.cases)),
      figures: compared.map((comparison) => {
        return { ...comparison, results: comparison.results.map(apiFigures) }
      }),
      // Of the first state: the others are told, not kept.
      ...apiRatios(compared[0]?.results ?? []),
      failures: compared.flatMap(({ results }) => results.flatMap(failuresOf)),
    }
  },
}
