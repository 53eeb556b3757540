import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { readHidden } from '../../../../src/orders-command/terminal/hidden-line.ts'

function type(...chunks: string[]) {
  const input = new PassThrough()
  for (const chunk of chunks) input.write(chunk)
  return readHidden(input, new AbortController().signal)
}

describe('a line that is typed unseen', () => {
  it.each([
    ['ends with Enter', ['abc\r'], 'abc'],
    ['ends with a line feed', ['abc\n'], 'abc'],
    ['ends with Ctrl-D', ['abc\u0004'], 'abc'],
    ['may come in pieces', ['a', 'b', 'c\rd'], 'abc'],
    ['may be corrected', ['abx\u007fc\r'], 'abc'],
    ['may be begun again', ['xyz\u0015abc\r'], 'abc'],
  ])('%s', async (_what, chunks, line) => {
    expect(await type(...chunks)).toBe(line)
  })

  it('gives way when the command is interrupted', async () => {
    const controller = new AbortController()
    const line = readHidden(new PassThrough(), controller.signal)
    controller.abort(new Error('interrupted'))
    await expect(line).rejects.toThrow('interrupted')
  })
})
