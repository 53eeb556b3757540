import type { Part } from '../part.ts'
import { failuresOf } from '../reporting/failures.ts'
import { compareDefinitions } from './compare.ts'
import { definitionCosts, definitionFigures, renderDefinitions } from './report.ts'

export const definitionsPart: Part = {
  name: 'definitions',
  about: 'the sort of the index beside others it could have',
  async measure(context) {
    const compared = await compareDefinitions(context)
    return {
      tables: compared.map(renderDefinitions),
      figures: compared.map((comparison) => {
        return { ...comparison, results: comparison.results.map(definitionFigures) }
      }),
      costs: definitionCosts(compared[0]?.results ?? []),
      failures: compared.flatMap(({ results }) => results.flatMap(failuresOf)),
    }
  },
}
