import { apiPart } from './api/part.ts'
import { definitionsPart } from './definitions/part.ts'
import { lagPart } from './lag/part.ts'
import { loadPart } from './load/part.ts'
import { overloadPart } from './overload/part.ts'
import type { Part } from './part.ts'
import { ratesPart } from './rates/part.ts'
import { refusalsPart } from './refusals/part.ts'
import { settingsPart } from './settings/part.ts'
import { sizesPart } from './sizes/part.ts'
import { startPart } from './start/part.ts'
import { workersPart } from './workers/part.ts'

/** All that the bench can measure, in the order in which it does. Each leaves the cluster as it found it. */
export const parts: readonly Part[] = [
  apiPart,
  ratesPart,
  sizesPart,
  refusalsPart,
  startPart,
  workersPart,
  definitionsPart,
  settingsPart,
  loadPart,
  lagPart,
  overloadPart,
]
