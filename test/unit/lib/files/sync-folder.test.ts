import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { syncFolder, syncFolderSync } from '../../../../src/lib/files/sync-folder.ts'
import { failSyncs, restoreSyncs } from '../../../support/stores/failing-syncs.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

let folder: string
beforeEach(() => {
  folder = createTestFolder()
})
afterEach(() => {
  restoreSyncs()
})

describe.each([
  { name: 'syncFolder', sync: syncFolder },
  { name: 'syncFolderSync', sync: async (path: string) => syncFolderSync(path) },
])('the sync of a folder by $name', ({ sync }) => {
  it.each(['EINVAL', 'ENOTSUP', 'EBADF', 'EISDIR'])(
    'succeeds on a file system that returns %s',
    async (code) => {
      await failSyncs(code)
      await sync(folder)
    },
  )

  it.each(['EIO', 'ENOSPC'])('fails with %s', async (code) => {
    await failSyncs(code)
    await expect(sync(folder)).rejects.toThrow(code)
  })
})
