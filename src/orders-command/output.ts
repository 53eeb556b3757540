/** Errors are for those who write; without listeners they would end the process. */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/**
 * Writes to stdout and waits until that is done. `closed`: nobody reads any more (`… | head`), which is no failure.
 * @throws Error of the system, such as of a full disk
 */
export function writeOut(text: string): Promise<'written' | 'closed'> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (!error) resolve('written')
      else if ((error as NodeJS.ErrnoException).code === 'EPIPE') resolve('closed')
      else reject(error)
    })
  })
}
