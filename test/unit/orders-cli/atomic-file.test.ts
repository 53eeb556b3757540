import { open } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { syncFolder } from '../../../src/orders-cli/atomic-file.ts'
import { temporaryFolder } from '../../support/stores/backend.ts'

let folder: string
let remove: () => void
beforeEach(() => {
  ;({ folder, remove } = temporaryFolder())
})
afterEach(() => {
  vi.restoreAllMocks()
  remove()
})

/** Makes the file system fail every sync with an error. */
async function failSyncs(code: string): Promise<void> {
  const handle = await open(folder)
  await handle.close()
  const error = Object.assign(new Error(`${code}: fsync`), { code })
  vi.spyOn(Object.getPrototypeOf(handle), 'sync').mockRejectedValue(error)
}

describe('the sync of a folder', () => {
  it.each(['EINVAL', 'ENOTSUP', 'EBADF', 'EISDIR'])(
    'succeeds on a file system that returns %s',
    async (code) => {
      await failSyncs(code)
      await syncFolder(folder)
    },
  )

  it.each(['EIO', 'ENOSPC'])('fails with %s', async (code) => {
    await failSyncs(code)
    await expect(syncFolder(folder)).rejects.toThrow(code)
  })
})
