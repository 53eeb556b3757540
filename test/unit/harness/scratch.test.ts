import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { areFree } from '../../harness/processes/ports.ts'
import { openScratch, startInScratch } from '../../harness/processes/scratch.ts'

const SCRATCH = new URL('../../harness/processes/scratch.ts', import.meta.url)
const LISTEN = 'net.createServer().listen(0, function () { console.log(this.address().port) })'
// Opens a folder with a listening program, prints its path and port, and waits.
const OWNER = `
  const { openScratch } = await import('${SCRATCH}')
  const scratch = await openScratch('test')
  const listener = await scratch.start('listener', process.execPath, ['-e', '${LISTEN}'])
  let port = ''
  while (port === '') port = await listener.logTail()
  console.log(JSON.stringify({ path: scratch.path, port: Number(port) }))
`

describe('a scratch folder', () => {
  it('closing a scratch folder ends its programs and removes its files', async () => {
    const scratch = await openScratch('test')
    const program = await scratch.start('forever', 'sleep', ['1000000'])
    process.kill(program.pid, 'SIGSTOP')

    await scratch.close()

    expect(program.hasEnded()).toBe(true)
    expect(existsSync(scratch.path)).toBe(false)
  })

  it('a scratch folder keeps the output of its programs', async () => {
    const scratch = await openScratch('test')
    const program = await scratch.start('talker', 'sh', ['-c', 'echo out; echo err >&2'])
    await expect.poll(() => program.hasEnded()).toBe(true)
    expect(await program.logTail()).toBe('out\nerr\n')
    await scratch.close()
  })

  it.each([
    ['exit 3', 'The process ended with exit code 3.'],
    ['kill -9 $$', 'The process ended with SIGKILL.'],
    ['exec sleep 1000000', 'The process still runs.'],
  ])('a scratch folder describes how `%s` ended', async (command, state) => {
    const scratch = await openScratch('test')
    const program = await scratch.start('one', 'sh', ['-c', `echo words; ${command}`])
    await expect.poll(() => program.describe()).toBe(`${state} Its output ends with:\nwords\n`)
    await scratch.close()
  })

  it('a start of a service that fails twice names both failures', async () => {
    let attempt = 0
    const start = () => Promise.reject(new Error(`failure ${++attempt}`))
    await expect(startInScratch('test', start)).rejects.toThrow('failure 1\nfailure 2')
  })

  it('a scratch folder rejects a program that does not exist', async () => {
    const scratch = await openScratch('test')
    await expect(scratch.start('none', 'no-such-program', [])).rejects.toThrow('ENOENT')
    await scratch.close()
  })

  it('a scratch folder is removed after its owner is killed', async () => {
    const owner = spawn(process.execPath, ['--input-type=module', '-e', OWNER], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(createInterface(owner.stdout), 'line')
    const { path, port } = JSON.parse(line)
    expect([existsSync(path), await areFree([port])]).toEqual([true, false])

    owner.kill('SIGKILL')

    await expect.poll(async () => [existsSync(path), await areFree([port])]).toEqual([false, true])
  })
})
