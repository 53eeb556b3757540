import { dockerOn } from '../test/harness/containers/docker.ts'
import { composeImages, nodeImage } from '../test/harness/containers/images.ts'
import { buildStandIn, hasStandIn } from './stand-ins/build.ts'

// Builds stand-ins for the images that the Dockerfile, the compose file and testcontainers name, on
// the engine of DOCKER_HOST or the default one. For machines that cannot reach an image registry.
const { getReaperImage } = await import('testcontainers/build/reaper/reaper.js')
const docker = dockerOn(undefined)
for (const image of new Set([nodeImage, ...Object.values(composeImages), getReaperImage()])) {
  if (hasStandIn(image)) await buildStandIn(docker, image, { nodeImage, log: console.error })
  else console.error(`${image} has no stand-in`)
}
