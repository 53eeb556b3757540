const ENTER = /[\r\n]/
const INTERRUPT = '\u0003'
const END_OF_INPUT = '\u0004'
const ERASE = /[\b\u007f]/
const ERASE_LINE = '\u0015'

/**
 * The line that is typed on a terminal in raw mode, where keys that edit or interrupt are characters like others.
 * Ctrl-C is what it always is, SIGINT.
 */
export function readHidden(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let line = ''

    function done(settle: () => void) {
      input.off('data', onData)
      input.off('end', onEnd)
      input.off('error', onError)
      signal.removeEventListener('abort', onAbort)
      input.pause()
      settle()
    }
    const onEnd = () => done(() => resolve(line))
    const onError = (error: Error) => done(() => reject(error))
    const onAbort = () => done(() => reject(signal.reason))

    function onData(chunk: Buffer | string) {
      for (const key of chunk.toString()) {
        if (key === INTERRUPT) return void process.emit('SIGINT', 'SIGINT')
        if (ENTER.test(key) || key === END_OF_INPUT) return done(() => resolve(line))
        if (key === ERASE_LINE) line = ''
        else if (ERASE.test(key)) line = line.slice(0, -1)
        else line += key
      }
    }

    input.on('data', onData)
    input.on('end', onEnd)
    input.on('error', onError)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort)
  })
}
