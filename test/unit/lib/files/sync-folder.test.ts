import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { syncFolder, syncFolderSync } from '../../../../src/lib/files/sync-folder.ts'
import { temporaryFolder } from '../../../support/stores/backend.ts'
import { failSyncs, restoreSyncs } from '../../../support/stores/failing-syncs.ts'

let folder: string
let remove: () => void
beforeEach(() => {
  ;({ folder, remove } = temporaryFolder())
})
afterEach(() => {
  restoreSyncs()
  remove()
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
