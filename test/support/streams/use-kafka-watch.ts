import { afterEach, beforeEach } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { startWatch, type WatchProcess } from '../cli/watch-process.ts'
import { createTestFolder } from '../stores/test-folder.ts'
import { type KafkaFeed, openKafkaFeed } from './kafka-feed.ts'

/** An embedded store of each test, which watches feed from a topic of its own. */
export interface EachKafkaWatch {
  readonly folder: string
  readonly feed: KafkaFeed
  readonly services: Services
  /** Starts a watch, which ends with the test at the latest. */
  start(): WatchProcess
}

/** Registers the hooks of {@link EachKafkaWatch}; `broker` is read before each test. */
export function useKafkaWatch(broker: () => Parameters<typeof openKafkaFeed>[0]): EachKafkaWatch {
  let folder: string
  let feed: KafkaFeed
  let services: Services
  let watches: WatchProcess[]
  beforeEach(async () => {
    folder = createTestFolder()
    feed = await openKafkaFeed(broker())
    services = await openServices(parseConfig({ DATA_DIR: folder }))
    watches = []
  })
  afterEach(async () => {
    await Promise.all(watches.map((watch) => watch.stop('SIGKILL')))
    await services.close()
    await feed.close()
  })

  return {
    get folder() {
      return folder
    },
    get feed() {
      return feed
    },
    get services() {
      return services
    },
    start() {
      const watch = startWatch({ DATA_DIR: folder, ...feed.env })
      watches.push(watch)
      return watch
    },
  }
}
