/** All of meta.orch.io/v1. */
export * from './scalars.js'
export * from './object.js'
export * from './options.js'
export * from './answers.js'
export * from './discovery.js'
