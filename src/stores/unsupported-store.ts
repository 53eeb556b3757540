/** The configured address leads to a store that this service cannot work with. */
export class UnsupportedStore extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UnsupportedStore'
  }
}
