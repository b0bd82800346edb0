//! Connection draining: during shutdown, keep-alive connections are closed so that the proxy sends the next request elsewhere.

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{ConnectionType, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, web};

use crate::state::AppState;

/// Middleware for `actix_web::middleware::from_fn`: closes the connection after a response during the drain.
pub(in crate::http) async fn close_connections(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let draining = request.app_data::<web::Data<AppState>>().is_some_and(|app| app.tasks.is_draining());
    let mut response = next.call(request).await?;
    // A websocket opened just before the drain stays open; its driver closes it.
    if draining && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
    Ok(response)
}
