import { describe, expect, it } from 'vitest'
import { memoryFolder } from '../../harness/processes/temporary-folder.ts'
import { temporaryFolder } from '../../support/stores/backend.ts'

const mountedAt = (path: string, options: string) => () =>
  `overlay / overlay rw 0 0\ntmpfs ${path} tmpfs ${options} 0 0\n`

describe('the folder for temporary files in memory', () => {
  it('the memory folder is a mounted one with room that runs programs', () => {
    const { folder, remove } = temporaryFolder()
    const mounts = mountedAt(folder, 'rw,nosuid,nodev')
    expect(memoryFolder({ path: folder, minFreeBytes: 1, mounts })).toBe(folder)
    remove()
  })

  it.each([
    ['runs no programs', { mounts: (folder: string) => mountedAt(folder, 'rw,noexec') }],
    ['is not mounted by itself', { mounts: () => mountedAt('/elsewhere', 'rw') }],
    ['has too little room', { minFreeBytes: Number.MAX_SAFE_INTEGER }],
    ['does not exist', { path: '/nowhere/at/all' }],
  ])(
    'the memory folder is undefined when the folder %s',
    (_what, { mounts, ...rest }: Overrides) => {
      const { folder, remove } = temporaryFolder()
      const table = mounts?.(folder) ?? mountedAt(folder, 'rw')
      expect(
        memoryFolder({ path: folder, minFreeBytes: 1, mounts: table, ...rest }),
      ).toBeUndefined()
      remove()
    },
  )
})

interface Overrides {
  mounts?: (folder: string) => () => string
  minFreeBytes?: number
  path?: string
}
