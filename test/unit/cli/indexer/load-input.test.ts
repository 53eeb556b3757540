import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { openInput } from '../../../../src/cli/indexer/load-input.ts'

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
