import type { Part } from './context.ts'
import { apiPart } from './parts/api.ts'
import { ingestPart } from './parts/ingest.ts'
import { lagPart } from './parts/lag.ts'
import { loadPart } from './parts/load.ts'
import { lookupsPart } from './parts/lookups.ts'
import { overloadPart } from './parts/overload.ts'
import { ratesPart } from './parts/rates.ts'
import { refusalsPart } from './parts/refusals.ts'
import { reindexPart } from './parts/reindex.ts'
import { definitionsPart, settingsPart } from './parts/settings.ts'
import { sizesPart } from './parts/sizes.ts'
import { startPart } from './parts/start.ts'
import { webhooksPart } from './parts/webhooks.ts'
import { workersPart } from './parts/workers.ts'

/** All parts, in the order in which the bench runs them. */
export const parts: readonly Part[] = [
  ...[apiPart, ratesPart, sizesPart, lookupsPart, refusalsPart, startPart, workersPart],
  ...[
    definitionsPart,
    settingsPart,
    loadPart,
    reindexPart,
    ingestPart,
    lagPart,
    overloadPart,
    webhooksPart,
  ],
]
