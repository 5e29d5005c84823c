/** The public types of apiregistration.orch.io/v1. */
export { APIService, APIServiceCondition, APIServiceSpec, APIServiceStatus, ServiceReference } from './apiservices.js'
