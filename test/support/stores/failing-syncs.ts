import fs from 'node:fs'
import { open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { vi } from 'vitest'

/** Makes the file system fail every sync with an error, until {@link restoreSyncs}. */
export async function failSyncs(code: string): Promise<void> {
  const error = Object.assign(new Error(`${code}: fsync`), { code })
  const handle = await open(tmpdir())
  await handle.close()
  vi.spyOn(Object.getPrototypeOf(handle), 'sync').mockRejectedValue(error)
  vi.spyOn(fs, 'fsyncSync').mockImplementation(() => {
    throw error
  })
  syncBuiltinESMExports()
}

export function restoreSyncs(): void {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
}
