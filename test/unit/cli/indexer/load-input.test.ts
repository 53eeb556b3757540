import { execFileSync } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { openInput } from '../../../../src/cli/indexer/load-input.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

it('an input that fails before it is read is reported by the first read', async () => {
  const stdin = new PassThrough()
  const input = await openInput('-', stdin, new AbortController().signal)
  const closed = new Promise((resolve) => stdin.once('close', resolve))
  stdin.destroy(new Error('EACCES: permission denied'))
  await closed
  await expect(buffer(input.chunks)).rejects.toThrow(
    'cannot read orders from standard input: EACCES: permission denied',
  )
})

it.each([
  ['gzip', 'zcat FILE', gzipSync('{}\n')],
  ['zstd', 'zstdcat FILE', Buffer.from('28b52ffd0458', 'hex')],
  ['zip', 'unzip -p FILE', Buffer.from('504b030414000000', 'hex')],
  ['xz', 'xzcat FILE', Buffer.from('fd377a585a000004', 'hex')],
  ['bzip2', 'bzcat FILE', Buffer.from('425a683931415926', 'hex')],
  ['UTF-16', 'iconv -f UTF-16 -t UTF-8 FILE', Buffer.from('\ufeff{}\n', 'utf16le')],
  ['UTF-16', 'iconv -f UTF-16 -t UTF-8 FILE', Buffer.from('\ufeff{}\n', 'utf16le').swap16()],
])('an input in %s fails once and names %s', async (format, program, bytes) => {
  for (const chunkBytes of [1, bytes.length]) {
    const count = Math.ceil(bytes.length / chunkBytes)
    const chunks = Array.from({ length: count }, (_, at) =>
      bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes),
    )
    const input = await openInput('-', Readable.from(chunks), new AbortController().signal)
    const read = await buffer(input.chunks).catch((error: Error) => error.message)
    expect(read).toContain(`cannot read orders from standard input: this is ${format}: `)
    expect(read).toContain(program)
  }
})

describe.runIf(process.platform === 'linux')('a named pipe', () => {
  async function openPipe() {
    const file = join(createTestFolder(), 'pipe')
    execFileSync('mkfifo', [file])
    const stopping = new AbortController()
    const input = await openInput(file, new PassThrough(), stopping.signal)
    return { file, stopping, bytesRead: input.bytesRead, read: buffer(input.chunks) }
  }

  it('stops waiting for its first writer after a signal', async () => {
    const { stopping, read } = await openPipe()
    stopping.abort()
    await expect(read).rejects.toThrow('interrupted')
  })

  it('stops waiting for more after a signal', async () => {
    const { file, stopping, bytesRead, read } = await openPipe()
    const writer = await open(file, 'w')
    await writer.write('{}\n')
    await expect.poll(bytesRead).toBe(3)
    stopping.abort()
    await expect(read).rejects.toThrow('interrupted')
    await writer.close()
  })

  it('is read until its writer closes it', async () => {
    const { file, read } = await openPipe()
    const writer = await open(file, 'w')
    await writer.write('{}\n')
    await writer.close()
    expect(`${await read}`).toBe('{}\n')
  })
})
