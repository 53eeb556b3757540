import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startApi } from '../../harness/processes/service.ts'

it('A profiled service leaves the CPU profile of its whole run when it is disposed of', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'orders-profile-'))
  try {
    const profileFolder = join(parent, 'profiles', 'api')
    const service = await startApi({}, { profileFolder })
    expect((await fetch(`${service.origin}/v1/orders`)).status).toBe(401)
    await service[Symbol.asyncDispose]()
    const files = await readdir(profileFolder)
    expect(files).toEqual([expect.stringMatching(/\.cpuprofile$/)])
    const { nodes } = JSON.parse(await readFile(join(profileFolder, files[0] ?? ''), 'utf8'))
    expect(JSON.stringify(nodes)).toContain('src/http/')
  } finally {
    await rm(parent, { recursive: true })
  }
})
