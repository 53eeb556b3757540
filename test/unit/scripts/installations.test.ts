import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { installation, installationCache } from '../../../scripts/installations.ts'
import { createTestFolder } from '../../support/stores/test-folder.ts'

let root: string
let fills: string[]
beforeEach(() => {
  root = createTestFolder()
  fills = []
})

const install = (wanted: string, fail = false) =>
  installation(
    'tool',
    wanted,
    async (folder) => {
      fills.push(folder)
      writeFileSync(join(folder, 'program'), wanted)
      if (fail) throw new Error('no network')
    },
    { root, log() {} },
  )

describe('an installation', () => {
  it('an installation is created once, then reused', async () => {
    const folder = await install('lock 1')
    expect(await install('lock 1')).toBe(folder)
    expect(fills).toEqual([folder])
  })

  it('an installation of another lock file is created separately', async () => {
    const [first, second] = [await install('lock 1'), await install('lock 2')]
    expect(first).not.toBe(second)
    expect(existsSync(join(first, 'program'))).toBe(true)
    expect(await install('lock 1')).toBe(first)
  })

  it('a failed installation leaves nothing behind, and the next call repeats it', async () => {
    await expect(install('lock 1', true)).rejects.toThrow('no network')
    expect(readdirSync(root)).toEqual([])
    await install('lock 1')
    expect(fills).toHaveLength(2)
  })

  it('an installation whose folder was removed is created again', async () => {
    rmSync(await install('lock 1'), { recursive: true })
    expect(existsSync(join(await install('lock 1'), 'program'))).toBe(true)
  })

  it('an installation that two processes create at once is complete for both', async () => {
    const folders = await Promise.all([install('lock 1'), install('lock 1')])
    for (const folder of folders) expect(existsSync(join(folder, 'program'))).toBe(true)
  })
})

describe('the folder of all installations', () => {
  it('the folder of all installations is in the cache folder of the user', async () => {
    const env = { XDG_CACHE_HOME: root }
    expect(await installationCache(env)).toBe(join(root, 'public-orders-api'))
  })

  it('the folder of all installations is in the project when the cache folder is unusable', async () => {
    const file = join(root, 'file')
    writeFileSync(file, '')
    expect(await installationCache({ XDG_CACHE_HOME: file })).toContain('node_modules')
  })
})
