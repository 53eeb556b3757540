import { statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFolder, createPrivateFile } from '../../../../src/lib/files/private-files.ts'
import { failSyncs, restoreSyncs } from '../../../support/stores/failing-syncs.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

let folder: string
beforeEach(() => {
  folder = createTestFolder()
})
afterEach(() => {
  restoreSyncs()
})

describe('a folder', () => {
  it.each(['EINVAL', 'ENOTSUP', 'EBADF', 'EISDIR'])(
    'is created on a file system that returns %s for the sync of one',
    async (code) => {
      await failSyncs(code)
      createFolder(join(folder, 'a/b'))
      expect(statSync(join(folder, 'a/b')).isDirectory()).toBe(true)
    },
  )

  it.each(['EIO', 'ENOSPC'])('fails with %s', async (code) => {
    await failSyncs(code)
    expect(() => createFolder(join(folder, 'a'))).toThrow(code)
  })
})

describe('a private file', () => {
  it('behind a symbolic link to a missing file is created for its owner alone', () => {
    const [link, target] = [join(folder, 'link'), join(folder, 'target')]
    symlinkSync(target, link)
    createPrivateFile(link)
    expect((statSync(target).mode & 0o777).toString(8)).toBe('600')
  })

  it('behind a symbolic link to itself fails', () => {
    const link = join(folder, 'link')
    symlinkSync(link, link)
    expect(() => createPrivateFile(link)).toThrow('ELOOP')
  })
})
