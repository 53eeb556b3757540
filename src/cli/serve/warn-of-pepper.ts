import type { Logger } from 'pino'
import { recordOrCheckPepper } from '../../auth/pepper-check.ts'
import type { Services } from '../../services.ts'

/** Warns when the service rejects every stored key, because its pepper is another one. */
export async function warnOfPepper(
  services: Pick<Services, 'pepperCheck' | 'keyPepper'>,
  logger: Pick<Logger, 'warn'>,
): Promise<void> {
  if (await recordOrCheckPepper(services)) return
  logger.warn(
    'the stored keys belong to another pepper, so every request with them gets 401: set KEY_PEPPER as before, or restore secrets.json in DATA_DIR; after a deliberate change, create new keys',
  )
}
